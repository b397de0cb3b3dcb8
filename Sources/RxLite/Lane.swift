public import Synchronization

/// The serial context of one subscription: whoever finds it free runs inside it, whoever comes meanwhile is
/// queued and run, in order, by the one inside.
///
/// This is the one drain of the library: every value that enters a subscription from outside (a
/// ``Signal``, an emitter, a timer, another scheduler, a cancel) enters through it, so operators need no
/// lock. Entering from inside queues as well; that is why re-entrant sends neither recurse nor deadlock.
///
/// A lane with a `scheduler` is only ever run by that scheduler; entering from elsewhere posts. After
/// 256 pieces of queued work it gives the scheduler's other work its turn. A lane without a scheduler
/// has nobody to give way to: whoever is inside runs what there is.
public final class Lane: Sendable {
    /// The scheduler that runs this lane, or `nil` where whoever enters does.
    public let scheduler: (any Scheduler)?

    /// The lane of the subscription that this one feeds from another scheduler, if any.
    private let downstream: Lane?

    @usableFromInline let occupancy = Atomic<UInt8>(Occupancy.free)
    private let waiting = Mutex(FIFO<Callback>())
    private let outside = Mutex(Outside())
    #if DEBUG
        /// Who is inside: a task, or a thread without one.
        @usableFromInline let holder = Atomic<Int>(Holder.nobody)
    #endif
    @usableFromInline let hasOutside = Atomic<Bool>(false)
    @usableFromInline let cancelled = Atomic<Bool>(false)
    @usableFromInline let pausing = Atomic<Int>(0)
    /// How deep calls that nest are at the moment. Changed only from inside the lane.
    @usableFromInline let depth = Atomic<Int>(0)
    @inlinable static var depthLimit: Int { 32 }
    /// How much of what could go on without end one turn of a scheduler does.
    @inlinable static var turnLength: Int { 1024 }
    /// How many pieces of queued work one turn runs; each may nest ``depthLimit`` deep.
    private static var batchLength: Int { 256 }

    @usableFromInline
    enum Occupancy {
        @inlinable static var free: UInt8 { 0 }
        @inlinable static var taken: UInt8 { 1 }
        /// Taken, and somebody is waiting in the queue.
        @inlinable static var awaited: UInt8 { 2 }
    }

    /// Work to be run by whoever leaves the lane, and whether somebody is at it.
    private struct Outside {
        var work = FIFO<Callback>()
        var isRunning = false
    }

    /// Creates a free lane.
    ///
    /// - Parameter downstream: the lane of the subscription that this one works for.
    public init(scheduler: (any Scheduler)? = nil, feeding downstream: Lane? = nil) {
        self.scheduler = scheduler
        self.downstream = downstream
    }

    /// Whether what runs in this lane works for `lane`'s subscription, on whatever schedulers in between.
    public func feeds(_ lane: Lane) -> Bool {
        self === lane || downstream?.feeds(lane) == true
    }

    /// Runs `work` now if the lane is free and may be run here; otherwise whoever is inside, or the
    /// scheduler, runs it later.
    @inlinable
    public func enter(_ work: @escaping @Sendable () -> Void) {
        if tryEnter() {
            work()
            leave()
        } else {
            enqueue(work)
        }
    }

    /// Takes the lane if it is free and may be run here. Who got `true` calls ``leave()`` when done.
    @inlinable
    package func tryEnter() -> Bool {
        isHere && takeIfFree()
    }

    /// Gives the lane back, after running whatever was queued meanwhile.
    @inlinable
    package func leave() {
        noteLeaving()
        let isFree = occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged
        if !isFree { drain() }
        if hasOutside.load(ordering: .relaxed) { runOutside() }
    }

    /// Runs `work` once the lane has been left, by whoever leaves it. For code that is not the library's
    /// and will come back through a door: inside the lane its events would pile up until it returns.
    @usableFromInline
    func afterLeaving(_ work: @escaping @Sendable () -> Void) {
        outside.withLock { $0.work.append(Callback(call: work)) }
        hasOutside.store(true, ordering: .relaxed)
    }

    /// Queues `work` behind what is there; it runs even if the lane has become free meanwhile.
    public func enqueue(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(Callback(call: work)) }
        while true {
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

    /// Begins a call that may lead to another of its kind, as streams which recurse through flatMap do.
    /// `false` if they are so deep that it has to go through ``enqueue(_:)`` instead. Who got `true` calls
    /// ``endNesting()``. Only from inside the lane.
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

    /// Runs `work` here and now while holding the lane, whatever thread this is. For the walk up a chain
    /// at the start of a subscription only, when nobody else can know of the lane yet.
    @inlinable
    func hold(_ work: () -> Void) {
        takeUnshared()
        work()
        leave()
    }

    /// Takes the lane, whatever thread this is, while nobody else can know of it. Who did calls
    /// ``leave()`` when done, also on another thread; what comes meanwhile waits.
    @inlinable
    func takeUnshared() {
        occupancy.store(Occupancy.taken, ordering: .relaxed)
        #if DEBUG
            holder.store(Holder.unknown, ordering: .relaxed)
        #endif
    }

    /// Whether the subscription as a whole has been cancelled, from whatever thread.
    @inlinable
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func markCancelled() { cancelled.store(true, ordering: .relaxed) }

    /// Whether a pause of the whole subscription is on its way into the lane.
    @inlinable
    var isPausing: Bool { pausing.load(ordering: .relaxed) > 0 }

    func beginPausing() { pausing.add(1, ordering: .relaxed) }

    func endPausing() { pausing.subtract(1, ordering: .relaxed) }

    @inlinable
    var isHere: Bool {
        guard let scheduler else { return true }
        return scheduler.isCurrent
    }

    @inlinable
    func takeIfFree() -> Bool {
        let isMine = occupancy.compareExchange(
            expected: Occupancy.free, desired: Occupancy.taken, ordering: .acquiringAndReleasing
        ).exchanged
        if isMine { noteEntering() }
        return isMine
    }

    /// Runs the queue empty and frees the lane. The caller has taken it.
    @usableFromInline
    func drain() {
        if let scheduler, !scheduler.isCurrent { return drainLater(on: scheduler) }
        noteEntering()
        var left = scheduler == nil ? Int.max : Self.batchLength
        while true {
            occupancy.store(Occupancy.taken, ordering: .sequentiallyConsistent)
            let (batch, isLast) = waiting.withLock { queue in
                let batch = queue.popFirst(atMost: left)
                return (batch, queue.isEmpty)
            }
            left -= batch.count
            batch.forEach { $0.call() }
            noteLeaving()
            if isLast, free() { return }
            if left <= 0, let scheduler { return drainLater(on: scheduler) }
            noteEntering()
        }
    }

    /// Drains in another turn of the scheduler. The lane stays taken until then.
    private func drainLater(on scheduler: any Scheduler) {
        noteLeaving()
        scheduler.schedule {
            self.drain()
            if self.hasOutside.load(ordering: .relaxed) { self.runOutside() }
        }
    }

    /// Frees the lane, unless somebody waits.
    private func free() -> Bool {
        occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Runs what ``afterLeaving(_:)`` left, in a loop: what is added from within runs in the same loop, so
    /// that streams started one from the end of another do not stack up.
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
