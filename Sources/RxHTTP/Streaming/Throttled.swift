package import RxLite

extension Observable where Element == TransferProgress {
    /// At most 20 a second by `clock`, and the last one always, also before a failure.
    package func throttled(on clock: any Scheduler) -> Observable {
        lift { observer in
            let throttle = ProgressThrottle()
            return Observer(
                scope: observer.scope,
                next: { progress in
                    if let due = throttle.take(progress, now: clock.now) { observer.next(due) }
                },
                end: { completion in
                    if let last = throttle.last() { observer.next(last) }
                    if observer.scope.isOpen { observer.end(completion) }
                })
        }
    }
}

/// Holds back what comes too soon.
final class ProgressThrottle: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private static let interval = Duration.milliseconds(50)
    private var sentAt: Duration?
    private var sent: TransferProgress?
    private var held: TransferProgress?

    func take(_ progress: TransferProgress, now: Duration) -> TransferProgress? {
        if let sentAt, now - sentAt < Self.interval {
            held = progress
            return nil
        }
        held = nil
        guard progress != sent else { return nil }
        sentAt = now
        sent = progress
        return progress
    }

    func last() -> TransferProgress? {
        let last = held.take()
        return last == sent ? nil : last
    }
}
