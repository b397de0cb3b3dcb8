import RxLite
import Synchronization

/// A scheduler that differs from a clock but has its time: its work runs when the clock is advanced, and
/// nothing else runs on it.
final class Elsewhere: Scheduler {
    private let clock: VirtualScheduler
    private let isRunning = Atomic<Bool>(false)

    init(_ clock: VirtualScheduler) { self.clock = clock }

    var now: Duration { clock.now }

    var isCurrent: Bool { isRunning.load(ordering: .relaxed) && clock.isCurrent }

    func schedule(_ work: @escaping @Sendable () -> Void) {
        clock.schedule { self.run(work) }
    }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        clock.schedule(after: delay) { self.run(work) }
    }

    private func run(_ work: () -> Void) {
        isRunning.store(true, ordering: .relaxed)
        work()
        isRunning.store(false, ordering: .relaxed)
    }
}
