public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body line by line, as UTF-8 text without the line ends (LF or CR LF); invalid bytes become U+FFFD.
    ///
    /// Text after the last line end is also a line once the body is complete; if the body breaks off, it is
    /// not sent. While the subscriber is paused, lines wait and nothing is read from the network.
    ///
    /// ```swift
    /// client.stream(.get("/log")).lines().subscribe(onNext: { line in print(line) })
    /// ```
    ///
    /// - Parameter limit: the most bytes of one line. A longer one fails with `tooLarge` and stops the transfer; the
    ///   lines before it have been sent. Default 1 MiB.
    public func lines(limit: Int = 1 << 20) -> Observable<String, NetworkError> {
        parsed { LineParser(limit: limit) }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
