internal import CLibuv

/// A one-shot timer that can be set repeatedly.
///
/// Only on the loop. It waits in the loop's heap of timers. Postponing and stopping, which happen to most
/// timeouts, cost one store: the entry keeps its position, and continues to wait when it comes up. A limit
/// that is rarely reached can therefore be set for every transfer.
package final class LoopTimer {
    private let entry: Entry
    private let loop: EventLoop

    /// Creates a timer that is not running.
    ///
    /// - Parameter onFire: called on the loop.
    package init(on loop: EventLoop, onFire: @escaping () -> Void) {
        loop.preconditionCurrent()
        self.loop = loop
        entry = Entry(on: loop, onFire: onFire)
    }

    deinit {
        // A loop that has ended holds no timers.
        precondition(
            entry.onFire == nil || !loop.inbox.isOpen, "a loop timer was released without being closed")
    }

    /// Fires once, not before `milliseconds` have passed; replaces the time set before.
    package func start(milliseconds: Int) {
        let (delay, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        start(at: uv_hrtime().addingClamped(overflow ? .max : delay))
    }

    /// Fires once, not before ``EventLoop/nanoseconds`` reaches `time`; replaces the time set before.
    package func start(at time: UInt64) {
        loop.preconditionCurrent()
        guard entry.onFire != nil else { return }
        entry.time = time
        if entry.position >= 0 {
            if entry.deadline <= time { return }
            loop.timers.remove(entry)
        }
        loop.insert(entry, at: time)
    }

    /// Does not fire until started again.
    package func stop() {
        loop.preconditionCurrent()
        entry.time = nil
    }

    /// Stops for good. Closing twice is fine, and so is closing from any thread after the end of the loop.
    package func close() {
        precondition(loop.isCurrent, "must be called on the event loop's thread")
        entry.time = nil
        entry.onFire = nil
        loop.timers.remove(entry)
    }

    /// The timer's entry in the heap; its deadline there is never later than its time.
    private final class Entry: TimerEntry, @unchecked Sendable {
        // Unchecked: accessed only on the loop.
        var onFire: (() -> Void)?
        var time: UInt64?
        private unowned let loop: EventLoop

        init(on loop: EventLoop, onFire: @escaping () -> Void) {
            self.loop = loop
            self.onFire = onFire
            super.init(deadline: 0)
        }

        override func run() {
            loop.assertCurrent()
            guard let time, let onFire else { return }
            guard uv_hrtime() >= time else { return loop.insert(self, at: time) }
            self.time = nil
            onFire()
        }
    }
}
