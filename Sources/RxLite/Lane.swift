import Synchronization

/// The serial context of one subscription: whoever finds it free runs inside it, whoever comes meanwhile is
/// queued and run, in order, by the one inside.
///
/// This is the one drain of the library: every value that enters a subscription from outside (a
/// ``Signal``, an emitter, a timer, another scheduler, a cancel) enters through it, so operators need no
/// lock. Entering from inside queues as well; that is why re-entrant sends neither recurse nor deadlock.
///
/// A lane with a `scheduler` is only ever run by that scheduler; entering from elsewhere posts.
public final class Lane: Sendable {
    /// The scheduler that runs this lane, or `nil` where whoever enters does.
    public let scheduler: (any Scheduler)?

    private let occupancy = Atomic<UInt8>(Occupancy.free)
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let cancelled = Atomic<Bool>(false)

    private enum Occupancy {
        static let free: UInt8 = 0
        static let taken: UInt8 = 1
        /// Taken, and somebody is waiting in the queue.
        static let awaited: UInt8 = 2
    }

    /// Creates a free lane.
    public init(scheduler: (any Scheduler)? = nil) {
        self.scheduler = scheduler
    }

    /// Runs `work` now if the lane is free and may be run here; otherwise whoever is inside, or the
    /// scheduler, runs it later.
    public func enter(_ work: @escaping @Sendable () -> Void) {
        if tryEnter() {
            work()
            leave()
        } else {
            enqueue(work)
        }
    }

    /// Takes the lane if it is free and may be run here. Who got `true` calls ``leave()`` when done.
    public func tryEnter() -> Bool {
        isHere && takeIfFree()
    }

    /// Gives the lane back, after running whatever was queued meanwhile.
    public func leave() {
        if occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged {
            return
        }
        drain()
    }

    /// Queues `work` behind what is there; it runs even if the lane has become free meanwhile.
    public func enqueue(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(work) }
        while true {
            if takeIfFree() { return drain() }
            let (exchanged, found) = occupancy.compareExchange(
                expected: Occupancy.taken, desired: Occupancy.awaited, ordering: .acquiringAndReleasing)
            if exchanged || found == Occupancy.awaited { return }
        }
    }

    /// Runs `work` here and now while holding the lane, whatever thread this is. For the walk up a chain
    /// at the start of a subscription only, when nobody else can know of the lane yet.
    @usableFromInline
    func hold(_ work: () -> Void) {
        occupancy.store(Occupancy.taken, ordering: .relaxed)
        work()
        leave()
    }

    /// Runs `work` at once if the lane's scheduler is here, else posts it. For those already inside the
    /// lane: a source that emits while it is being subscribed to.
    func perform(_ work: @escaping @Sendable () -> Void) {
        if isHere { work() } else { enqueue(work) }
    }

    /// Whether the subscription as a whole has been cancelled, from whatever thread.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func markCancelled() { cancelled.store(true, ordering: .relaxed) }

    private var isHere: Bool { scheduler?.isCurrent ?? true }

    private func takeIfFree() -> Bool {
        occupancy.compareExchange(
            expected: Occupancy.free, desired: Occupancy.taken, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Runs the queue empty and frees the lane. The caller has taken it.
    private func drain() {
        if let scheduler, !scheduler.isCurrent {
            return scheduler.schedule { self.drain() }
        }
        repeat {
            occupancy.store(Occupancy.taken, ordering: .sequentiallyConsistent)
            let batch = waiting.withLock { queue in
                let batch = queue
                queue = []
                return batch
            }
            for work in batch { work() }
        } while !occupancy.compareExchange(
            expected: Occupancy.taken, desired: Occupancy.free, ordering: .acquiringAndReleasing
        ).exchanged
    }
}
