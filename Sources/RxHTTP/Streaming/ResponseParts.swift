public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The parts of a multipart response, such as `multipart/mixed` or `multipart/x-mixed-replace`, each as soon
    /// as the boundary after it has arrived (RFC 2046 §5.1).
    ///
    /// ```swift
    /// client.stream(.post("/batch", batch)).parts()
    ///     .subscribe(onNext: { part in print(part.headerFields[.contentType] ?? "", part.body.count) })
    /// ```
    ///
    /// Text before the first boundary and after the last one is skipped. A response of another type fails with
    /// `contentType`, one without a boundary of 1 to 70 bytes with `invalidResponse`, and one that ends without
    /// its closing boundary with `partialBody`; the parts before an error have been sent. If the first boundary
    /// line ends with LF instead of CR LF, so do all others.
    ///
    /// - Parameter limit: the maximum number of bytes of one part with its header section. A larger one fails
    ///   with `tooLarge`. Default 8 MiB.
    public func parts(limit: Int = 8 << 20) -> Observable<ResponsePart, NetworkError> {
        parsed { MultipartParser(limit: limit) }
    }
}
