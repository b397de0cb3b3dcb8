public import RxLite

/// The progress of a transfer.
///
/// An upload counts the bytes handed to the network; a download counts the received bytes after decoding
/// (`Content-Encoding`), as the subscriber gets them.
public struct TransferProgress: Sendable, Equatable {
    /// The bytes so far.
    public var bytes: Int64
    /// The total; `nil` if it is not known in advance, as with chunked or compressed content.
    public var expected: Int64?

    /// Creates a progress.
    public init(bytes: Int64, expected: Int64? = nil) {
        self.bytes = bytes
        self.expected = expected
    }

    /// From 0 to 1; `nil` if the total is unknown. A total of zero bytes gives 1.
    public var fraction: Double? {
        guard let expected else { return nil }
        return expected > 0 ? min(1, Double(bytes) / Double(expected)) : 1
    }
}

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

    /// Passes the events on and reports the values of ``uploadProgress()`` and ``downloadProgress()`` to the two
    /// closures. The closures run within the subscription, each before the event that its value comes from.
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
                        if case .finished = event, let last = throttle.takeLast() { download(last) }
                    }
                    if observer.scope.isOpen { observer.next(event) }
                }, end: observer.end)
        }
    }
}

extension Observable where Element == TransferProgress {
    /// At most 20 values a second by `clock`, and always the last one, also before a failure.
    package func throttled(on clock: any Scheduler) -> Observable {
        lift { observer in ThrottledProgress(clock, into: observer).input }
    }
}

/// One running throttle. A value that is held back is sent when its time has come, even if no other follows.
private final class ThrottledProgress<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let clock: any Scheduler
    private let observer: Observer<TransferProgress, Failure>
    private let scope: Scope
    private let throttle = ProgressThrottle()
    private var timer: (any Cancellable)?

    init(_ clock: any Scheduler, into observer: Observer<TransferProgress, Failure>) {
        self.clock = clock
        self.observer = observer
        scope = observer.scope.child()
    }

    var input: Observer<TransferProgress, Failure> {
        scope.onClose { self.stopTimer() }
        return Observer(
            scope: scope, next: { self.receive($0) },
            end: { completion in
                self.scope.close()
                if let last = self.throttle.takeLast() { self.observer.next(last) }
                if self.observer.scope.isOpen { self.observer.end(completion) }
            })
    }

    private func receive(_ progress: TransferProgress) {
        if let due = throttle.take(progress, now: clock.now) {
            stopTimer()
            observer.next(due)
        } else if timer == nil, let wait = throttle.wait(now: clock.now) {
            timer = clock.schedule(after: wait) {
                self.scope.enter {
                    self.timer = nil
                    if let due = self.throttle.takeHeld(now: self.clock.now) { self.observer.next(due) }
                }
            }
        }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }
}

/// Holds back values that come too soon.
final class ProgressThrottle: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// 20 values a second, as the documentation says. `UploadProgress` of RxCurl and `RateMeter` of RxTransfers have
    /// the same interval.
    private static let interval = Duration.milliseconds(50)
    private var sentAt: Duration?
    private var sent: TransferProgress?
    private var held: TransferProgress?

    func take(_ progress: TransferProgress, now: Duration) -> TransferProgress? {
        held = progress
        if let sentAt, now - sentAt < Self.interval { return nil }
        return takeHeld(now: now)
    }

    /// The value that is held back, which the caller sends now; `nil` as for ``takeLast()``.
    func takeHeld(now: Duration) -> TransferProgress? {
        guard let progress = takeLast() else { return nil }
        sentAt = now
        sent = progress
        return progress
    }

    /// How long the value that is held back has to wait; `nil` if there is none.
    func wait(now: Duration) -> Duration? {
        guard let sentAt, held != nil else { return nil }
        // A value that arrives when the time is up is sent first.
        return max(.zero, sentAt + Self.interval + .milliseconds(1) - now)
    }

    /// The value that is held back, for the end of the stream; `nil` if there is none, or it has been sent already.
    func takeLast() -> TransferProgress? {
        let last = held.take()
        return last == sent ? nil : last
    }
}
