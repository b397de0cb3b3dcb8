import RxLite
import Synchronization

/// A scheduler whose timers fire when the test says so, as late as it says. Runs on the calling thread.
final class LateClock: Scheduler {
    private struct Contents {
        var now: Duration = .zero
        var timers: [LateTimer] = []
    }

    private let contents = Mutex(Contents())

    var now: Duration { contents.withLock { $0.now } }
    var isCurrent: Bool { true }

    func schedule(_ work: @escaping @Sendable () -> Void) { work() }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        contents.withLock { contents in
            let timer = LateTimer(due: contents.now + delay, work)
            contents.timers.append(timer)
            return timer
        }
    }

    /// Fires the first timer, the given time late. A cancelled one does nothing.
    func fire(late: Duration) {
        let timer = contents.withLock { contents -> LateTimer? in
            guard let timer = contents.timers.min(by: { $0.due < $1.due }) else { return nil }
            contents.timers.removeAll { $0 === timer }
            contents.now = timer.due + late
            return timer
        }
        timer?.fire()
    }
}

private final class LateTimer: Cancellable {
    let due: Duration
    private let work: Mutex<(@Sendable () -> Void)?>

    init(due: Duration, _ work: @escaping @Sendable () -> Void) {
        self.due = due
        self.work = Mutex(work)
    }

    func cancel() { work.withLock { $0 = nil } }

    func fire() { work.withLock { $0 }?() }
}
