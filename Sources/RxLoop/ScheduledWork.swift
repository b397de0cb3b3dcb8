internal import RxLite
import Synchronization

/// Work that waits for its due time on a loop.
final class ScheduledWork: TimerEntry, Cancellable, @unchecked Sendable {
    // Unchecked: the plain variables are set before another thread can see the object, and accessed only on
    // the loop afterwards; `isSettled` is atomic.

    private let loop: EventLoop
    private var work: (@Sendable () -> Void)?
    private let isSettled = Atomic<Bool>(false)

    init(on loop: EventLoop, deadline: UInt64, work: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.work = work
        super.init(deadline: deadline)
    }

    /// Whether the work has run or been cancelled.
    var isOver: Bool { isSettled.load(ordering: .relaxed) }

    /// Runs the work unless it has been cancelled. On the loop.
    override func run() {
        guard settle(), let work else { return }
        self.work = nil
        work()
    }

    func cancel() {
        guard settle() else { return }
        // A loop that has ended holds no timers.
        if loop.ownsCurrentThread { withdraw() } else { _ = loop.post { self.withdraw() } }
    }

    /// Releases the work without running it. On the loop.
    func drop() {
        loop.assertCurrent()
        isSettled.store(true, ordering: .relaxed)
        work = nil
    }

    private func withdraw() {
        loop.assertCurrent()
        loop.timers.remove(self)
        work = nil
    }

    private func settle() -> Bool {
        isSettled.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }
}
