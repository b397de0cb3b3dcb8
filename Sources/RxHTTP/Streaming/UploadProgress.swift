public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// How much of the request's body has been handed to the network: at most 20 values a second, which the
    /// transport ensures, and always the last one. There are no values without a body. A redirect that
    /// repeats the body counts from zero.
    public func uploadProgress() -> Observable<TransferProgress, NetworkError> {
        compactMap { event in
            guard case .uploaded(let bytes, let total) = event else { return nil }
            return TransferProgress(bytes: bytes, expected: total)
        }
    }

    /// The same events. The values of ``uploadProgress()`` and ``downloadProgress()`` are passed to the two
    /// closures within the subscription, each before the event that it comes from.
    package func reporting(
        upload: @escaping @Sendable (TransferProgress) -> Void,
        download: @escaping @Sendable (TransferProgress) -> Void
    ) -> Observable {
        let clock = scheduler ?? ActorScheduler.shared
        return lift { observer in
            let count = DownloadCount()
            let throttle = ProgressThrottle()
            return Observer(
                scope: observer.scope,
                next: { event in
                    if case .uploaded(let bytes, let total) = event {
                        upload(TransferProgress(bytes: bytes, expected: total))
                    } else if let progress = count.take(event) {
                        if let due = throttle.take(progress, now: clock.now) { download(due) }
                        if case .finished = event, let last = throttle.last() { download(last) }
                    }
                    if observer.scope.isOpen { observer.next(event) }
                }, end: observer.end)
        }
    }
}
