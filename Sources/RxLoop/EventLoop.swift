import CLibuv
public import RxLite
import Synchronization

/// One thread with one libuv loop, which runs timers, sockets and posted work one piece at a time.
///
/// The loop runs from `init` until ``shutDown()``; releasing it does not end it. It is a stream `Scheduler`
/// and a Swift executor, so that actors and tasks can run on its thread. Work that blocks holds up everything
/// else on the loop.
///
/// ```swift
/// let loop = EventLoop(name: "network")
/// loop.schedule { print(loop.isCurrent) }   // true
/// loop.shutDown()
/// ```
///
/// Threads: `schedule`, `now`, `isCurrent`, ``ownsCurrentThread``, ``onShutdown(_:)`` and ``work(_:)`` from
/// any; ``shutDown()`` from any except the loop's and those that run its ``work(_:)``.
@safe
public final class EventLoop: Scheduler, @unchecked Sendable {
    // Unchecked: everything that is not constant, atomic or under a Mutex is accessed only on the loop's
    // thread once that runs; it starts after init has set everything, and ends before join returns.
    // Safe: `raw` and the handles are valid from init until the thread has closed them.

    /// The default loop of the process. It is never shut down.
    public static let shared = EventLoop(name: "rx.loop")

    /// The name of the thread, in debuggers and profiles. Linux shows 15 bytes of it.
    public let name: String

    let raw: UnsafeMutablePointer<uv_loop_t>
    /// Set before the thread begins, `nil` after it has ended.
    var handles: LoopHandles?
    let life = Mutex(Life.new)
    /// Whether the loop has neither run nor been shut down. Read in place of `life`, whose lock
    /// ``shutDown()`` holds while it waits for the thread.
    let isNew = Atomic<Bool>(true)
    let startFailure = Mutex<UVError?>(nil)
    let inbox = Inbox()
    var timers = TimerHeap()
    /// While due timers run, the time up to which they are due; otherwise `nil`.
    private var ringTime: UInt64?
    /// Whether due timers wait for the end of the poll.
    private var isLate = false
    /// `nil` once the loop has ended.
    let hooks = Mutex<[UInt64: @Sendable () -> Void]?>([:])
    /// Whether pending timers run early, new ones go to another clock, and no job starts (``PoolJob/start()``).
    /// Accessed only on the loop.
    var isEnding = false
    /// The number of jobs in the thread pool or on their way back from it, for which the end of the loop waits.
    /// Accessed only on the loop.
    var jobCount = 0
    /// The threads of the pool that are running a job of the loop, and may not call ``shutDown()``.
    let jobThreads = Mutex<Set<UInt>>([])
    /// Whether work posted by the loop's work is dropped. Accessed only on the loop.
    var dropsOwnWork = false
    let lateWork = LateWork()

    /// The loop's thread, or 0 if there is none.
    let owner = Atomic<UInt>(0)
    /// The posted work that is being run, the next piece last.
    var batch: [Inbox.Work] = []

    /// Starts a loop on a new thread. If the process has no descriptor or no thread left, ``startError`` is
    /// set.
    ///
    /// The first loop makes the process ignore `SIGPIPE`, unless the app has a handler for it, because
    /// libcurl with `CURLOPT_NOSIGNAL` leaves that to its user.
    public init(name: String) {
        _ = Self.ignoringBrokenPipes
        self.name = name
        unsafe raw = .allocate(capacity: 1)
        _ = start()
    }

    deinit {
        // The running thread retains the loop, so this runs after the thread has closed everything.
        unsafe raw.deallocate()
    }

    /// Monotonic time (`uv_hrtime`), read at each call.
    public var now: Duration { .nanoseconds(Int64(clamping: nanoseconds)) }

    /// ``now`` in nanoseconds.
    public var nanoseconds: UInt64 { uv_hrtime() }

    /// Whether the caller is on the loop's thread, or the loop has ended or could not be started. In the
    /// latter cases streams of the loop run on the threads that enter them.
    public var isCurrent: Bool { ownsCurrentThread || !inbox.isOpen }

    /// Whether the caller is on the thread of the loop, which has not ended.
    public var ownsCurrentThread: Bool { owner.load(ordering: .relaxed) == Self.currentThread }

    /// Stops the process if the caller is not on the loop's thread.
    public func preconditionCurrent() {
        precondition(ownsCurrentThread, "must be called on the event loop's thread")
    }

    /// Stops a debug build if the loop runs and the caller is on another thread. Guards everything that is
    /// accessed only on the loop.
    @inlinable package func assertCurrent() {
        assert(isCurrent, "must be accessed on the event loop's thread")
    }

    /// Runs `work` in the loop's next round, after everything scheduled before it.
    ///
    /// After ``shutDown()`` it runs on the calling thread before this returns, or on a thread that is already
    /// running such work; still one piece at a time, in order.
    public func schedule(_ work: @escaping @Sendable () -> Void) {
        if !post(work), !ownsCurrentThread { lateWork.run(work) }
    }

    /// Runs `work` as ``schedule(_:)`` does, but on the loop's thread or not at all: returns `false` and
    /// drops the work after ``shutDown()``, and if the loop cannot be started (``startError``).
    public func post(_ work: @escaping @Sendable () -> Void) -> Bool {
        if ownsCurrentThread, dropsOwnWork { return false }
        if queue(work) { return true }
        return isNew.load(ordering: .acquiring) && start() && queue(work)
    }

    func queue(_ work: @escaping Inbox.Work) -> Bool {
        inbox.post(work) {
            // On the loop nothing has to be woken: the queue is checked before each poll.
            if !ownsCurrentThread, let handles { unsafe _ = uv_async_send(handles.wakeUp.pointer) }
        }
    }

    /// Runs `work` once, not before `delay` has passed, in order of due times; equal times in order of
    /// scheduling. The loop's timer has a resolution of one millisecond and rounds up.
    ///
    /// Work that is waiting when the loop is shut down runs early. Later delays use `ActorScheduler.shared`,
    /// which runs the work.
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

    /// On the loop; false if the loop is ending and takes no more timers.
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

    /// Inserts an entry that is not in the heap. On the loop.
    func insert(_ entry: TimerEntry, at deadline: UInt64) {
        assertCurrent()
        // Else a ``LoopTimer`` whose time has not come would insert itself again, and the loop would never end.
        guard !isEnding else { return }
        // An entry added while timers run comes after the others, however long it has been due.
        entry.deadline = ringTime.map { max(deadline, $0.addingClamped(1)) } ?? deadline
        timers.insert(entry)
        if ringTime == nil, timers.first === entry { setAlarm() }
    }

    /// Schedules the entry that is due next: with the one libuv timer or, if it is already due, after the
    /// next poll, so that sockets and posted work get their turn.
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

    /// Runs the due timers, each once.
    private func ringAlarm() {
        let time = uv_hrtime()
        ringTime = time
        while let entry = timers.popFirst(dueAt: time) { entry.run() }
        ringTime = nil
        setAlarm()
    }

    /// The most pieces of posted work to run between two polls.
    private static let batchLimit = 1024

    /// Runs the work posted so far, up to a limit. Work posted by this work runs in a later round, so that
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

    /// Keeps the thread from sleeping in its next poll if anything waits.
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
    /// Rounded up to nanoseconds; 0 if not positive, at most about 584 years.
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

extension EventLoop: SerialExecutor, TaskExecutor {
    /// Runs a job of an actor or task on the loop.
    ///
    /// A job that arrives after ``shutDown()`` could never run and its task never end, so it stops the
    /// process; let actors and tasks end before their loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAccepted = post { [self] in
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        precondition(isAccepted, "a task or an actor still uses an event loop that was shut down")
    }

    /// The loop as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// The loop as the preferred executor of a task.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Stops the process if the caller is not on the loop.
    public func checkIsolated() { preconditionCurrent() }

    /// Whether the caller is on the loop.
    public func isIsolatingCurrentContext() -> Bool? { ownsCurrentThread }
}

/// The work that has been posted to a loop and has not run yet. Accepts nothing until its loop runs.
final class Inbox: Sendable {
    typealias Work = @Sendable () -> Void

    private let works = Mutex<[Work]>([])
    /// Changed only under the lock.
    private let isTaking = Atomic<Bool>(false)

    /// Whether work is accepted. When this becomes false again, all accepted work has been run.
    var isOpen: Bool { isTaking.load(ordering: .acquiring) }

    /// Accepts work from now on.
    func open() { works.withLock { _ in isTaking.store(true, ordering: .releasing) } }

    /// Queues `work`; false if the inbox is closed and the work is dropped.
    ///
    /// - Parameter wake: wakes the thread that drains the queue, if the queue was empty. Called under the
    ///   lock, so that meanwhile the inbox cannot be closed and the handle to wake cannot be freed.
    func post(_ work: @escaping Work, wake: () -> Void) -> Bool {
        works.withLock { works in
            guard isTaking.load(ordering: .relaxed) else { return false }
            works.append(work)
            if works.count == 1 { wake() }
            return true
        }
    }

    var isEmpty: Bool { works.withLock { $0.isEmpty } }

    /// Exchanges the queue for `emptied`, so that the two arrays alternate and are not allocated anew.
    func take(into emptied: inout [Work]) {
        works.withLock { works in swap(&works, &emptied) }
    }

    /// Closes the inbox; returns false, and leaves it open, if there is work to run first.
    func closeIfEmpty() -> Bool {
        works.withLock { works in
            guard works.isEmpty else { return false }
            isTaking.store(false, ordering: .releasing)
            return true
        }
    }
}

/// Work scheduled on a loop that has ended. It is run by the thread that schedules it, or by one that is
/// already running such work, in a loop, so that work which schedules more does not recurse.
final class LateWork: Sendable {
    private struct Contents {
        var works: [Inbox.Work] = []
        var isRunning = false
    }

    private let contents = Mutex(Contents())

    func run(_ work: @escaping Inbox.Work) {
        let isMine = contents.withLock { contents in
            contents.works.append(work)
            defer { contents.isRunning = true }
            return !contents.isRunning
        }
        guard isMine else { return }
        while let batch = nextBatch() {
            for work in batch { work() }
        }
    }

    /// The work added since the last batch; `nil` if there is none, and the thread is done.
    private func nextBatch() -> [Inbox.Work]? {
        contents.withLock { contents in
            let batch = contents.works
            contents.works = []
            contents.isRunning = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}
