import CLibuv
import RxLite
import Synchronization

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
        /// When the timer is to fire; `nil` while it is stopped. If the deadline comes before it, ``run()``
        /// only inserts the entry again.
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

/// An entry that waits for its due time in a loop's ``TimerHeap``.
class TimerEntry: @unchecked Sendable {
    // Unchecked: once inserted, accessed only on the loop, which is asserted there; before that, see the
    // subclasses.

    /// The due time, in nanoseconds of `uv_hrtime`. Must not change while the entry is in the heap.
    final var deadline: UInt64
    /// Counts up in order of insertion; orders entries with equal deadlines.
    final var sequence: UInt64 = 0
    /// The index in the loop's heap, or −1.
    final var position = -1

    init(deadline: UInt64) { self.deadline = deadline }

    /// Called when the entry is due, and no longer in the heap; at the end of the loop, before it is due.
    func run() {}

    /// Whether it is due before `other`.
    final func precedes(_ other: TimerEntry) -> Bool {
        deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
    }
}

/// The loop's pending timers: a binary heap whose entries know their positions, so that cancelling one among
/// thousands costs no more than adding it.
struct TimerHeap {
    private var entries: [TimerEntry] = []
    private var latestSequence: UInt64 = 0

    /// The entry that is due next.
    var first: TimerEntry? { entries.first }

    var count: Int { entries.count }

    mutating func insert(_ entry: TimerEntry) {
        latestSequence += 1
        entry.sequence = latestSequence
        entry.position = entries.count
        entries.append(entry)
        siftUp(from: entry.position)
    }

    /// Removes `entry`; does nothing if it is not in the heap.
    mutating func remove(_ entry: TimerEntry) {
        let hole = entry.position
        guard hole >= 0 else { return }
        entry.position = -1
        let last = entries.removeLast()
        guard last !== entry else { return }
        put(last, at: hole)
        siftUp(from: hole)
        siftDown(from: last.position)
    }

    /// Removes and returns the first entry if it is due at `time`.
    mutating func popFirst(dueAt time: UInt64) -> TimerEntry? {
        guard let first, first.deadline <= time else { return nil }
        remove(first)
        return first
    }

    /// Removes and returns all entries, in no particular order.
    mutating func removeAll() -> [TimerEntry] {
        let all = entries
        entries = []
        for entry in all { entry.position = -1 }
        return all
    }

    private mutating func put(_ entry: TimerEntry, at position: Int) {
        entries[position] = entry
        entry.position = position
    }

    private mutating func siftUp(from start: Int) {
        let entry = entries[start]
        var hole = start
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.precedes(entries[parent]) else { break }
            put(entries[parent], at: hole)
            hole = parent
        }
        put(entry, at: hole)
    }

    private mutating func siftDown(from start: Int) {
        let entry = entries[start]
        var hole = start
        while true {
            var child = 2 * hole + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].precedes(entries[child]) { child += 1 }
            guard entries[child].precedes(entry) else { break }
            put(entries[child], at: hole)
            hole = child
        }
        put(entry, at: hole)
    }
}

/// Runs its callback once, after the current or the next poll phase.
///
/// It serves as a timer of zero: with libuv such a timer costs a millisecond if rounded up, and before libuv
/// 1.48 one started from a timer's callback can spin the loop. Here an idle handle keeps the poll from
/// sleeping, and a check handle runs right after it (`uv_idle_t`, `uv_check_t`).
///
/// Only on the loop.
@safe
package final class Immediate: LoopHandle {
    private var handles: (idle: Handle<uv_idle_t>, check: Handle<uv_check_t>)?
    private let loop: EventLoop
    private let perform: () -> Void
    private var isRequested = false

    /// Creates an immediate callback that is not requested yet.
    package init(on loop: EventLoop, perform: @escaping () -> Void) throws(UVError) {
        loop.preconditionCurrent()
        self.loop = loop
        self.perform = perform
        let raw = unsafe loop.raw
        let idle = try unsafe Handle<uv_idle_t> { unsafe uv_idle_init(raw, $0) }
        let check: Handle<uv_check_t>
        do throws(UVError) {
            unsafe check = try unsafe Handle<uv_check_t> { unsafe uv_check_init(raw, $0) }
        } catch {
            unsafe idle.close()
            throw error
        }
        unsafe handles = unsafe (idle, check)
        unsafe idle.setOwner(self)
        unsafe check.setOwner(self)
    }

    deinit { precondition(isClosed, "an immediate callback was released without being closed") }

    private var isClosed: Bool { unsafe handles == nil }

    /// Requests one call. Requesting again before it has run changes nothing.
    package func request() {
        loop.preconditionCurrent()
        guard !isRequested, let (idle, check) = unsafe handles else { return }
        isRequested = true
        unsafe _ = uv_idle_start(idle.pointer) { _ in }
        unsafe _ = uv_check_start(check.pointer) { check in
            unsafe owner(of: check, as: Immediate.self)?.fire()
        }
    }

    /// Cancels the request.
    package func stop() {
        loop.preconditionCurrent()
        guard isRequested, let (idle, check) = unsafe handles else { return }
        isRequested = false
        unsafe _ = uv_idle_stop(idle.pointer)
        unsafe _ = uv_check_stop(check.pointer)
    }

    /// Stops for good. Closing twice is fine, and so is closing from any thread after the end of the loop, which has
    /// closed it.
    package func close() {
        guard let (idle, check) = unsafe handles else { return }
        stop()
        unsafe handles = nil
        unsafe idle.close()
        unsafe check.close()
    }

    private func fire() {
        stop()
        perform()
    }
}
