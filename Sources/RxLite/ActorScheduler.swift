import Synchronization

/// Runs work on an actor, the main actor for one, and keeps the time of the continuous clock.
///
/// ```swift
/// goods.observe(on: ActorScheduler.main)   // from here on down everything runs on the main actor
/// ```
///
/// Callbacks that the compiler knows to be on the actor come with
/// ``Observable/subscribe(isolatedTo:onNext:onFailure:onFinish:)``.
public final class ActorScheduler: Scheduler {
    /// Runs work on the main actor.
    public static let main = ActorScheduler(MainActor.shared)
    /// A serial context of the library's own: the clock of operators that are given no other.
    public static let shared = ActorScheduler(Background())

    /// A separate serial context, on the runtime's pool of threads: for work that takes long.
    public static func background() -> ActorScheduler { ActorScheduler(Background()) }

    private actor Background {}

    private struct Work {
        var ready = FIFO<@Sendable () -> Void>()
        var isDraining = false
        /// Identifies the task that drains, while it does.
        var drainer: Int?
        /// In order of their due time; those due together in order of their scheduling.
        var timers: [ActorTimer] = []
        var timerCount = 0
        var waker: Task<Void, Never>?

        /// Where `timer` is, or belongs.
        func index(of timer: ActorTimer) -> Int {
            var range = 0..<timers.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let isBefore = (timers[middle].due, timers[middle].number) < (timer.due, timer.number)
                range = isBefore ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        }
    }

    private let actor: any Actor
    private let origin = ContinuousClock.now
    private let work = Mutex(Work())

    /// Creates a scheduler that runs its work on `actor`.
    public init(_ actor: any Actor) {
        self.actor = actor
    }

    /// Time since this scheduler was made.
    public var now: Duration { ContinuousClock.now - origin }

    /// Whether the caller is work of this scheduler. Other code on the same actor is not.
    public var isCurrent: Bool {
        guard let task = Self.currentTask else { return false }
        return work.withLock { $0.drainer == task }
    }

    /// Runs `body` on the actor, after what was scheduled before it.
    public func schedule(_ body: @escaping @Sendable () -> Void) {
        enqueue { $0.ready.append(body) }
    }

    /// Runs `body` on the actor, `delay` from now.
    public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any Cancellable {
        work.withLock { work in
            work.timerCount += 1
            let timer = ActorTimer(due: now + delay, number: work.timerCount, scheduler: self, body)
            let index = work.index(of: timer)
            work.timers.insert(timer, at: index)
            if index == 0 { wake(&work) }
            return timer
        }
    }

    /// Has `change` add work that is ready, and drains it if nobody is at it.
    private func enqueue(_ change: (inout Work) -> Void) {
        let mustStart = work.withLock { work in
            change(&work)
            defer { work.isDraining = work.isDraining || !work.ready.isEmpty }
            return !work.isDraining && !work.ready.isEmpty
        }
        if mustStart { startDraining() }
    }

    /// In a task that knows nothing of who scheduled the work: its local values and its priority are not the work's.
    private func startDraining() { Task.detached { await self.drain(on: self.actor) } }

    fileprivate func remove(_ timer: ActorTimer) {
        work.withLock { work in
            let index = work.index(of: timer)
            guard index < work.timers.count, work.timers[index] === timer else { return }
            work.timers.remove(at: index)
            // One that wakes too early for the next changes nothing; one that wakes for nobody would keep all this.
            if work.timers.isEmpty { wake(&work) }
        }
    }

    /// Has the first timer waited for, instead of the one before.
    private func wake(_ work: inout Work) {
        work.waker?.cancel()
        guard let due = work.timers.first?.due else { return work.waker = nil }
        work.waker = Task.detached {
            // A sleep of centuries overflows the runtime's clock; a day later it is looked at again.
            do { try await Task.sleep(for: min(due - self.now, .seconds(86400))) } catch { return }
            self.fireDueTimers()
        }
    }

    private func fireDueTimers() {
        // Taken and made ready in one step: two wakers at once must not change the order.
        enqueue { work in
            let due = work.timers.prefix { $0.due <= now }
            for timer in due { work.ready.append { timer.fire() } }
            work.timers.removeFirst(due.count)
            wake(&work)
        }
    }

    /// Runs a turn of what is ready, and continues in a new task, so that others on the actor have their turn.
    private func drain(on _: isolated any Actor) {
        let task = Self.currentTask
        let ready = work.withLock { work in
            work.drainer = task
            return work.ready.popFirst(atMost: Lane.turnLength)
        }
        ready.forEach { body in body() }
        let mustGoOn = work.withLock { work in
            work.drainer = nil
            work.isDraining = !work.ready.isEmpty
            return work.isDraining
        }
        if mustGoOn { startDraining() }
    }

    private static var currentTask: Int? {
        unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
    }
}

/// One piece of delayed work.
private final class ActorTimer: Cancellable {
    let due: Duration
    let number: Int
    private weak let scheduler: ActorScheduler?
    private let body: Mutex<(@Sendable () -> Void)?>

    init(due: Duration, number: Int, scheduler: ActorScheduler, _ body: @escaping @Sendable () -> Void) {
        self.due = due
        self.number = number
        self.scheduler = scheduler
        self.body = Mutex(body)
    }

    func cancel() {
        scheduler?.remove(self)
        // Let go of here, after the lock.
        _ = takeBody()
    }

    func fire() { takeBody()?() }

    private func takeBody() -> (@Sendable () -> Void)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}
