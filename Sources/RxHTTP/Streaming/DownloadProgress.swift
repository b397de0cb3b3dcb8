public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The progress of the body in decoded bytes: at most 20 values a second by the stream's clock, and
    /// always the last one.
    ///
    /// The first value arrives with the head. The expected bytes are the response's `Content-Length`, unless
    /// the body is compressed or chunked; at the end they equal the received bytes.
    public func downloadProgress() -> Observable<TransferProgress, NetworkError> {
        let clock = scheduler ?? ActorScheduler.shared
        return Observable<TransferProgress, NetworkError>(scheduler: scheduler) { observer in
            let count = DownloadCount()
            self.compactMap { count.take($0) }.throttled(on: clock).subscribe(observer)
        }
    }
}

/// Counts a body as it arrives.
final class DownloadCount: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private var progress = TransferProgress(bytes: 0)

    func take(_ event: TransferEvent) -> TransferProgress? {
        switch event {
        case .head(let head):
            progress = TransferProgress(bytes: 0, expected: head.isCoded ? nil : head.contentLength)
        case .chunk(let bytes): progress.bytes += Int64(bytes.count)
        case .finished: progress.expected = progress.bytes
        case .uploaded, .redirected, .interim, .trailers: return nil
        }
        return progress
    }
}
