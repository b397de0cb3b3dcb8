public import Synchronization

/// The serial context of one subscription. A caller that finds it free runs inside it; work that arrives
/// meanwhile is queued and run, in order, by the caller inside.
///
/// Every value that enters a subscription from outside (from a ``Signal``, an emitter, a timer, another
/// scheduler, a cancel) enters through its lane, so operators need no lock. Entering from inside also queues;
/// therefore re-entrant sends neither recurse nor deadlock.
///
/// A lane with a `scheduler` runs only on that scheduler; entering from elsewhere schedules the work there.
/// After 256 pieces of queued work it yields to the scheduler's other work. A lane without a scheduler yields
/// to nothing: the caller inside runs all there is.
@usableFromInline
package final class Lane: Sendable {
    /// The scheduler that runs this lane; `nil` if callers run it themselves.
    @usableFromInline package let scheduler: (any Scheduler)?

    /// The lane of the subscription that this one works for. Once the subscription of this lane is over, lanes whose
    /// subscriptions are over as well are left out.
    private let downstream: Mutex<Lane?>
    /// Whether there has been one. Constant, so that a lane which works for no other takes no lock.
    private let hasDownstream: Bool
    /// The context of the subscription, or of the one it works for; `nil` without a call of ``captureContext(_:)``.
    package let context: (any AnyObject & Sendable)?

    @usableFromInline let occupancy = Atomic<UInt8>(Occupancy.free)
    private let waiting = Mutex(FIFO<Callback>())
    private let outside = Mutex(Outside())
    #if DEBUG
    /// The holder: a task, or a thread without one.
    @usableFromInline let holder = Atomic<Int>(Holder.nobody)
    #endif
    /// Whether ``outside`` has work, for callers that leave the lane.
    @usableFromInline let hasOutside = Atomic<Bool>(false)
    /// Set by the cancel of the root scope. No scope of the lane is open from then on (``Scope/isOpen``).
    @usableFromInline let cancelled = Atomic<Bool>(false)
    /// Whether the root scope has closed.
    private let ended = Atomic<Bool>(false)
    /// The number of pauses behind ``isPausing``.
    @usableFromInline let pausing = Atomic<Int>(0)
    // Guard: accessed only from inside the lane, which is serial.
    nonisolated(unsafe) var succession = Succession.none
    /// The current depth of nested calls. Changed only from inside the lane.
    @usableFromInline let depth = Atomic<Int>(0)
    /// The most calls that ``tryNesting()`` nests. ``Trampoline`` has another limit, for subscriptions of a thread.
    @inlinable static var depthLimit: Int { 32 }
    /// The most steps of a potentially endless loop in one turn of a scheduler. The articles promise this number and
    /// the next one (Threading.md, Lanes.md).
    @inlinable static var turnLength: Int { 1024 }
    /// The most pieces of queued work in one turn; each may nest ``depthLimit`` deep.
    private static var batchLength: Int { 256 }

    @usableFromInline
    enum Occupancy {
        @inlinable static var free: UInt8 { 0 }
        @inlinable static var taken: UInt8 { 1 }
        /// Taken, with work waiting in the queue.
        @inlinable static var awaited: UInt8 { 2 }
    }

    /// Work to run after leaving the lane, and whether it is being run.
    private struct Outside {
        var work = FIFO<Callback>()
        var isRunning = false
    }

    /// Creates a free lane.
    ///
    /// - Parameter downstream: the lane of the subscription that this lane works for.
    @usableFromInline
    package convenience init(scheduler: (any Scheduler)? = nil, feeding downstream: Lane? = nil) {
        self.init(scheduler: scheduler, feeding: downstream, context: downstream?.context)
    }

    /// Creates a free lane for a subscription with a context.
    init(scheduler: (any Scheduler)?, feeding downstream: Lane?, context: Context?) {
        self.scheduler = scheduler
        self.downstream = Mutex(downstream)
        hasDownstream = downstream != nil
        self.context = context
    }

    /// Releases the lanes that it feeds in a loop: any number of subscriptions may run within each other.
    deinit {
        guard hasDownstream else { return }
        var next = downstream.withLock { $0.take() }
        while isKnownUniquelyReferenced(&next) { next = next?.downstream.withLock { $0.take() } }
    }

    /// Whether work in this lane is for the subscription of `lane`, through any schedulers in between. `Session` of
    /// RxClient recognizes the requests of its own login by it.
    @usableFromInline
    package func isUpstream(of lane: Lane) -> Bool {
        var next: Lane? = self
        while let current = next {
            if current === lane { return true }
            next = current.fed
        }
        return false
    }

    private var fed: Lane? { hasDownstream ? downstream.withLock { $0 } : nil }

    /// The first lane, of this one and those it works for, whose subscription is not over.
    var firstActive: Lane? {
        var next: Lane? = self
        while let current = next, current.isCancelled || current.ended.load(ordering: .relaxed) {
            next = current.fed
        }
        return next
    }

    /// Records the end of the subscription. From now on this lane works only for those subscriptions that are not over,
    /// so that streams which start each other one after the other keep no chain of lanes.
    @usableFromInline
    func markEnded() {
        ended.store(true, ordering: .relaxed)
        guard hasDownstream else { return }
        let active = firstActive
        // The former lane is released outside the lock.
        let former = downstream.withLock { fed in
            defer { fed = active }
            return fed
        }
        _ = former
    }

    /// Runs `work` now if the lane is free and may be run here; otherwise the caller inside, or the
    /// scheduler, runs it later.
    @inlinable
    package func enter(_ work: @escaping @Sendable () -> Void) {
        if tryEnter() {
            work()
            leave()
        } else {
            enqueue(work)
        }
    }

    /// Takes the lane if it is free and may be run here. After `true`, the caller must call ``leave()``.
    @inlinable
    package func tryEnter() -> Bool {
        isOnScheduler && takeIfFree()
    }

    /// Frees the lane after running the work queued meanwhile.
    @inlinable
    package func leave() {
        didLeave()
        let isFree = occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged
        if !isFree { drain() }
        if hasOutside.load(ordering: .relaxed) { runOutside() }
    }

    /// Runs `work` once the lane has been left, by the caller that leaves it; so only from inside the lane. For code
    /// outside the library that will send events into the lane: from inside, its events would pile up until it returns.
    @usableFromInline
    func afterLeaving(_ work: @escaping @Sendable () -> Void) {
        outside.withLock { $0.work.append(Callback(call: work)) }
        hasOutside.store(true, ordering: .relaxed)
    }

    /// Queues `work` after all waiting work; it runs even if the lane has become free meanwhile.
    @usableFromInline
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(Callback(call: work)) }
        while true {
            // Even where the scheduler is not current: the lane stays taken until the scheduler drains it.
            if takeIfFree() {
                drain()
                if hasOutside.load(ordering: .relaxed) { runOutside() }
                return
            }
            let (exchanged, found) = occupancy.compareExchange(
                expected: Occupancy.taken, desired: Occupancy.awaited, ordering: .acquiringAndReleasing)
            if exchanged || found == Occupancy.awaited { return }
        }
    }

    /// Begins a call that may lead to another of its kind, as in streams that recurse through flatMap.
    /// `false` if the calls are nested so deep that this one has to go through ``enqueue(_:)``. After `true`,
    /// the caller must call ``endNesting()``. Only from inside the lane.
    @inlinable
    func tryNesting() -> Bool {
        assertInside()
        let deeper = depth.load(ordering: .relaxed) + 1
        guard deeper <= Self.depthLimit else { return false }
        depth.store(deeper, ordering: .relaxed)
        return true
    }

    @inlinable
    func endNesting() {
        assertInside()
        depth.store(depth.load(ordering: .relaxed) - 1, ordering: .relaxed)
    }

    /// Runs `work` immediately while holding the lane, on any thread. Only for setting up a chain at the
    /// start of a subscription, before the lane is shared.
    @inlinable
    package func hold<Result>(_ work: () -> Result) -> Result {
        takeUnshared()
        defer { leave() }
        return work()
    }

    /// Takes the lane, on any thread, before it is shared. The caller must call ``leave()`` when done,
    /// possibly on another thread; events that arrive meanwhile wait.
    @inlinable
    func takeUnshared() {
        occupancy.store(Occupancy.taken, ordering: .relaxed)
        #if DEBUG
        holder.store(Holder.unknown, ordering: .relaxed)
        #endif
    }

    /// Whether the subscription as a whole has been cancelled, from any thread.
    @inlinable
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func markCancelled() { cancelled.store(true, ordering: .relaxed) }

    /// Whether a pause of the whole subscription waits for its turn in the lane. Its sources count as paused already;
    /// see ``Scope/isPaused``.
    @inlinable
    var isPausing: Bool { pausing.load(ordering: .relaxed) > 0 }

    func beginPausing() { pausing.add(1, ordering: .relaxed) }

    func endPausing() { pausing.subtract(1, ordering: .relaxed) }

    /// Whether the caller may run the lane: on its scheduler or, without one, anywhere.
    @inlinable
    var isOnScheduler: Bool {
        guard let scheduler else { return true }
        return scheduler.isCurrent
    }

    @inlinable
    func takeIfFree() -> Bool {
        let isMine = occupancy.compareExchange(
            expected: Occupancy.free, desired: Occupancy.taken, ordering: .acquiringAndReleasing
        ).exchanged
        if isMine { didEnter() }
        return isMine
    }

    /// Runs all queued work and frees the lane, which the caller has taken.
    @usableFromInline
    func drain() {
        if let scheduler, !scheduler.isCurrent { return drainLater(on: scheduler) }
        didEnter()
        var left = scheduler == nil ? Int.max : Self.batchLength
        while true {
            // Before the queue is read: work that is added later finds the lane taken, and marks it awaited.
            occupancy.store(Occupancy.taken, ordering: .sequentiallyConsistent)
            let (batch, isLast) = waiting.withLock { queue in
                let batch = queue.popFirst(atMost: left)
                return (batch, queue.isEmpty)
            }
            left -= batch.count
            batch.forEach { $0.call() }
            didLeave()
            if isLast, free() { return }
            if left <= 0, let scheduler { return drainLater(on: scheduler) }
            didEnter()
        }
    }

    /// Drains in another turn of the scheduler. The lane stays taken until then.
    private func drainLater(on scheduler: any Scheduler) {
        didLeave()
        scheduler.schedule {
            self.drain()
            if self.hasOutside.load(ordering: .relaxed) { self.runOutside() }
        }
    }

    /// Frees the lane, unless work is waiting.
    private func free() -> Bool {
        occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Runs the work added by ``afterLeaving(_:)``, in a loop that also runs work added meanwhile, so that
    /// streams which start at the end of another do not nest.
    @usableFromInline
    func runOutside() {
        var left = scheduler == nil ? Int.max : Self.batchLength
        while true {
            let work = outside.withLock { outside -> Callback? in
                guard !outside.isRunning else { return nil }
                guard let work = outside.work.popFirst() else {
                    hasOutside.store(false, ordering: .relaxed)
                    return nil
                }
                outside.isRunning = true
                return work
            }
            guard let work else { return }
            work.call()
            left -= 1
            outside.withLock { $0.isRunning = left <= 0 }
            if left <= 0, let scheduler {
                return scheduler.schedule {
                    self.outside.withLock { $0.isRunning = false }
                    self.runOutside()
                }
            }
        }
    }
}

// MARK: - Tasks

extension Lane {
    /// The lane that the current task works for, if a stream has started the task.
    @TaskLocal private static var served: Lane?

    /// The lane of a subscription that begins here. It feeds the lane that the current task works for, or, if
    /// that subscription is over, the first one it worked for that is not.
    @usableFromInline
    static func forSubscription(on scheduler: (any Scheduler)?) -> Lane {
        guard let served else { return Lane(scheduler: scheduler, feeding: nil, context: currentContext) }
        return Lane(
            scheduler: scheduler, feeding: served.firstActive, context: currentContext ?? served.context)
    }

    /// The lane of a stream that subscribers share: with the context of the one that starts it, but for none of them.
    @usableFromInline
    static func forSharing(on scheduler: (any Scheduler)?, startedIn lane: Lane) -> Lane {
        Lane(scheduler: scheduler, feeding: nil, context: lane.context)
    }

    /// Runs `start`. Subscriptions made by it, also from tasks that it starts, feed this lane.
    @usableFromInline
    func serve(_ start: () -> Void) {
        Self.$served.withValue(self) { start() }
    }
}

// MARK: - Context

/// Captures the context of subscriptions; `nil` until an observer needs it.
private let capture = Mutex<(@Sendable () -> (any AnyObject & Sendable)?)?>(nil)
private let isCapturing = Atomic<Bool>(false)

extension Lane {
    /// The context of a subscription: a value of the task, or thread, that subscribes. It stays with the subscription
    /// through all schedulers and loops, where no value of a task is left.
    typealias Context = any AnyObject & Sendable

    /// From now on, captures the context of each subscription by `context`. The last call applies, for the whole
    /// process: RxTracing calls it, and finds its service context in ``Lane/context`` by a cast.
    package static func captureContext(_ context: @escaping @Sendable () -> (any AnyObject & Sendable)?) {
        capture.withLock { $0 = context }
        isCapturing.store(true, ordering: .releasing)
    }

    /// The context of a subscription that begins here. Without a call of ``captureContext(_:)`` it costs one atomic
    /// load.
    static var currentContext: Context? {
        guard isCapturing.load(ordering: .acquiring) else { return nil }
        return capture.withLock { $0 }?()
    }
}

// MARK: - Holder

/// Debug builds know the holder of a lane, and stop if state that only the lane's serial order protects is
/// accessed from outside.
extension Lane {
    /// Stops a debug build if the caller is not inside the lane. For state that is `@unchecked Sendable`
    /// because it is accessed only there.
    ///
    /// It distinguishes tasks from each other, and from threads without a task. Two threads without a task look the
    /// same: it does not notice that one of them uses the lane that the other has taken.
    @inlinable
    package func assertInside(file: StaticString = #file, line: UInt = #line) {
        #if DEBUG
        assert(isInside, "must be called from inside the lane", file: file, line: line)
        #endif
    }

    @inlinable
    func didEnter() {
        #if DEBUG
        holder.store(Holder.current, ordering: .relaxed)
        #endif
    }

    @inlinable
    func didLeave() {
        #if DEBUG
        holder.store(Holder.nobody, ordering: .relaxed)
        #endif
    }

    #if DEBUG
    @usableFromInline var isInside: Bool {
        let holder = holder.load(ordering: .relaxed)
        return holder == Holder.current || holder == Holder.unknown
    }

    @usableFromInline
    enum Holder {
        @inlinable static var nobody: Int { 0 }
        /// Any caller, for a lane that was taken before it was shared.
        @inlinable static var unknown: Int { -1 }
        /// Any thread without a task.
        @inlinable static var taskless: Int { 1 }

        @usableFromInline static var current: Int {
            unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } ?? taskless
        }
    }
    #endif
}
