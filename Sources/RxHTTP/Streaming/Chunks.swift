public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body as it arrives, in decoded chunks of any size.
    ///
    /// While the subscriber is paused, nothing is read from the network (see ``Transport``).
    ///
    /// ```swift
    /// client.stream(.get("/export")).chunks()
    ///     .subscribe(onNext: { bytes in digest.update(bytes) })
    /// ```
    public func chunks() -> Observable<[UInt8], NetworkError> {
        compactMap { event in
            if case .chunk(let bytes) = event { bytes } else { nil }
        }
    }
}
