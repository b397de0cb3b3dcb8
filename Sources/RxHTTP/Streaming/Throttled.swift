package import RxLite

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
                if let last = self.throttle.last() { self.observer.next(last) }
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
    private static let interval = Duration.milliseconds(50)
    private var sentAt: Duration?
    private var sent: TransferProgress?
    private var held: TransferProgress?

    func take(_ progress: TransferProgress, now: Duration) -> TransferProgress? {
        held = progress
        if let sentAt, now - sentAt < Self.interval { return nil }
        return takeHeld(now: now)
    }

    /// The value that is held back, unless it has been sent already.
    func takeHeld(now: Duration) -> TransferProgress? {
        guard let progress = last() else { return nil }
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

    func last() -> TransferProgress? {
        let last = held.take()
        return last == sent ? nil : last
    }
}
