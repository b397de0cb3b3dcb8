internal import CLibuv
public import RxLite
import Synchronization

/// One thread with one libuv loop: timers, sockets and posted work, one piece at a time.
///
/// The loop runs from `init` until ``shutDown()``; letting go of it does not end it. It is a stream
/// `Scheduler`, and a Swift executor, so that actors and tasks can live on its thread. Work that blocks
/// holds up everything else on the loop.
///
/// ```swift
/// let loop = EventLoop(name: "network")
/// loop.schedule { print(loop.isCurrent) }   // true
/// loop.shutDown()
/// ```
///
/// Threads: `schedule`, `now`, `isCurrent`, ``ownsCurrentThread``, ``onShutdown(_:)``, ``work(_:)`` from
/// anywhere; ``shutDown()`` from anywhere but the loop.
@safe
public final class EventLoop: Scheduler, @unchecked Sendable {
    // Unchecked: what is not a constant, atomic or under a Mutex is touched only on the loop's thread once
    // that runs; its start happens after init has set everything, and its end before join returns.
    // Safe: `raw` and the handles live from init until the thread has closed them.

    /// The default loop of the process. It is never shut down.
    public static let shared = EventLoop(name: "rx.loop")

    /// The name of the thread, in debuggers and profiles. Linux shows 15 bytes of it.
    public let name: String

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// Set before the thread begins, and gone when it ends.
    var handles: LoopHandles?
    let life = Mutex(Life.new)
    /// Whether it has never run, and nobody has shut it down.
    let isNew = Atomic<Bool>(true)
    let startFailure = Mutex<UVError?>(nil)
    let inbox = Inbox()
    var timers = TimerHeap()
    /// Set while timers run that were due then.
    private var ringTime: UInt64?
    /// Whether timers that are due wait for the end of the poll.
    private var isLate = false
    /// `nil` once the loop has ended.
    let hooks = Mutex<[UInt64: @Sendable () -> Void]?>([:])
    /// Whether pending timers run early and new ones are another clock's. Touched only on the loop.
    var isEnding = false
    /// How many jobs are in the thread pool or on their way back from it. Touched only on the loop.
    var jobCount = 0
    /// Whether what the loop's own work posts is dropped. Touched only on the loop.
    var dropsOwnWork = false
    let lateWork = LateWork()

    /// The owning thread, or 0 while there is none.
    let owner = Atomic<UInt>(0)
    /// What was posted and is being run, the next one last.
    var batch: [Inbox.Work] = []

    /// Starts a loop on a new thread. Where the process has no descriptor or no thread left for one, ``startError``
    /// says so.
    ///
    /// The first loop makes the process ignore `SIGPIPE`, unless the app has a handler for it: libcurl with
    /// `CURLOPT_NOSIGNAL` leaves that to its user.
    public init(name: String) {
        _ = Self.ignoringBrokenPipes
        self.name = name
        unsafe raw = .allocate(capacity: 1)
        _ = start()
    }

    deinit {
        // The running thread holds the loop, so that this comes after the thread has closed everything.
        unsafe raw.deallocate()
    }

    /// Monotonic time (`uv_hrtime`), read at each call.
    public var now: Duration { .nanoseconds(Int64(clamping: nanoseconds)) }

    /// ``now`` in nanoseconds.
    public var nanoseconds: UInt64 { uv_hrtime() }

    /// Whether the caller is on the loop's thread, or the loop has ended or could not be started: then streams of the
    /// loop run on the threads that enter them.
    public var isCurrent: Bool { ownsCurrentThread || !inbox.isOpen }

    /// Whether the caller is on the thread of the loop, which has not ended.
    public var ownsCurrentThread: Bool { owner.load(ordering: .relaxed) == Self.currentThread }

    /// Stops the process if the caller is not on the loop's thread.
    public func preconditionCurrent() {
        precondition(ownsCurrentThread, "only to be called on the event loop's own thread")
    }

    /// Stops a debug build if the caller is on another thread than the loop's while that runs. The guard of everything
    /// that is touched only on the loop.
    @inlinable package func assertCurrent() {
        assert(isCurrent, "only to be touched on the event loop's own thread")
    }

    /// Runs `work` in the loop's next round, after everything scheduled before it.
    ///
    /// After ``shutDown()`` it runs on the calling thread before this returns, or on one that is at such work
    /// already; still one piece at a time, in order.
    public func schedule(_ work: @escaping @Sendable () -> Void) {
        if !post(work), !ownsCurrentThread { lateWork.run(work) }
    }

    /// Runs `work` as ``schedule(_:)`` does, on the loop's thread or not at all: `false` after ``shutDown()``, and
    /// where the loop cannot be started (``startError``), with the work dropped.
    public func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        if ownsCurrentThread, dropsOwnWork { return false }
        if queue(work) { return true }
        return isNew.load(ordering: .acquiring) && start() && queue(work)
    }

    func queue(_ work: @escaping Inbox.Work) -> Bool {
        inbox.post(work) {
            // On the loop there is nobody to wake: the queue is looked at before each poll.
            if !ownsCurrentThread, let handles { unsafe _ = uv_async_send(handles.wakeUp.pointer) }
        }
    }

    /// Runs `work` once, not before `delay` has passed, in due order; equal times in order of scheduling.
    /// The loop's timer has a grain of a millisecond and rounds up.
    ///
    /// Work that waits when the loop is shut down runs early. Later waits use `ActorScheduler.shared`, which runs the
    /// work.
    public func schedule(
        after delay: Duration, _ work: @escaping @Sendable () -> Void
    ) -> any Cancellable {
        let nanoseconds = delay.wholeNanoseconds
        let entry = ScheduledWork(
            on: self, deadline: uv_hrtime().addingClamped(nanoseconds), work: work)
        if nanoseconds == 0 {
            schedule { entry.run() }
        } else {
            let isKept = ownsCurrentThread ? keep(entry) : post { self.insert(entry) }
            guard isKept else { return ActorScheduler.shared.schedule(after: delay, work) }
        }
        return entry
    }

    /// On the loop; false if that is ending and takes no more timers.
    private func keep(_ entry: ScheduledWork) -> Bool {
        guard !isEnding else { return false }
        insert(entry)
        return true
    }

    private func insert(_ entry: ScheduledWork) {
        guard !entry.isOver else { return entry.drop() }
        guard !isEnding else { return entry.run() }
        insert(entry, at: entry.deadline)
    }

    /// Puts an entry that is not there into the heap. On the loop.
    func insert(_ entry: TimerEntry, at deadline: UInt64) {
        assertCurrent()
        guard !isEnding else { return }
        // What comes while timers run has its turn after the others, however long it has been due.
        entry.deadline = ringTime.map { max(deadline, $0.addingClamped(1)) } ?? deadline
        timers.insert(entry)
        if ringTime == nil, timers.first === entry { setAlarm() }
    }

    /// Has the entry that is due next run: by the one libuv timer, or if it is due already after the poll that comes
    /// next, so that sockets and posted work have had their turn.
    private func setAlarm() {
        guard let deadline = timers.first?.deadline, let handles else { return }
        guard uv_hrtime() >= deadline else {
            return unsafe handles.alarm.start(deadline: deadline, on: self) { timer in
                unsafe RxLoop.owner(of: timer, as: EventLoop.self)?.ringAlarm()
            }
        }
        guard !isLate else { return }
        isLate = true
        keepAwake()
        unsafe _ = uv_check_start(handles.lateAlarm.pointer) { check in
            unsafe RxLoop.owner(of: check, as: EventLoop.self)?.ringLateAlarm()
        }
    }

    private func ringLateAlarm() {
        isLate = false
        if let handles { unsafe _ = uv_check_stop(handles.lateAlarm.pointer) }
        ringAlarm()
    }

    /// Runs the timers that are due, each once.
    private func ringAlarm() {
        let time = uv_hrtime()
        ringTime = time
        while let entry = timers.popFirst(dueAt: time) { entry.run() }
        ringTime = nil
        setAlarm()
    }

    /// How many pieces of posted work are run between two polls.
    private static let batchLimit = 1024

    /// Runs what has been posted so far, or a good deal of it. What the work itself posts is for a later round, so that
    /// sockets and timers get their turn.
    func drainInbox() {
        assertCurrent()
        if batch.isEmpty {
            if batch.capacity > 4096 { batch = [] }
            inbox.take(into: &batch)
            batch.reverse()
        }
        var count = 0
        while count < Self.batchLimit, let work = batch.popLast() {
            count += 1
            work()
        }
        keepAwake()
    }

    /// Keeps the thread from sleeping in its next poll, if something waits.
    private func keepAwake() {
        guard let handles else { return }
        if batch.isEmpty, !isLate, inbox.isEmpty {
            unsafe _ = uv_idle_stop(handles.backlog.pointer)
        } else {
            unsafe _ = uv_idle_start(handles.backlog.pointer) { _ in }
        }
    }
}

extension Duration {
    /// Rounded up to nanoseconds; 0 for none or less, about 584 years at most.
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .max }
        return whole.addingClamped(UInt64(attoseconds + 999_999_999) / 1_000_000_000)
    }
}

extension UInt64 {
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
