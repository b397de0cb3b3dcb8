import Synchronization

/// Runs work on an actor, such as the main actor, and measures time with the continuous clock.
///
/// ```swift
/// goods.observe(on: .main)   // everything below runs on the main actor
/// ```
///
/// To get callbacks that the compiler knows to be on the actor, use
/// `subscribe(isolatedTo:)`.
public final class ActorScheduler: Scheduler {
    /// Runs work on the main actor.
    public static let main = ActorScheduler(MainActor.shared)
    /// The library's serial context: the clock of operators that are given none.
    public static let shared = ActorScheduler(Background())

    /// A separate serial context on the runtime's thread pool, for work that takes long.
    public static func background() -> ActorScheduler { ActorScheduler(Background()) }

    private actor Background {}

    private struct Work {
        var ready = FIFO<@Sendable () -> Void>()
        var isDraining = false
        /// Identifies the task that is draining, if any.
        var drainer: Int?
        /// In order of due time; timers due together in order of scheduling.
        var timers: [ActorTimer] = []
        var timerCount = 0
        var waker: Task<Void, Never>?

        /// The index of `timer`, or the index to insert it at.
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

    /// The time since this scheduler was created.
    public var now: Duration { ContinuousClock.now - origin }

    /// Whether the caller is work of this scheduler. Other code on the same actor is not.
    public var isCurrent: Bool {
        guard let task = Self.currentTask else { return false }
        return work.withLock { $0.drainer == task }
    }

    /// Runs `body` on the actor, after the work scheduled before it.
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

    /// Lets `change` add work that is ready, and starts draining if no task is draining.
    private func enqueue(_ change: (inout Work) -> Void) {
        let mustStart = work.withLock { work in
            change(&work)
            defer { work.isDraining = work.isDraining || !work.ready.isEmpty }
            return !work.isDraining && !work.ready.isEmpty
        }
        if mustStart { startDraining() }
    }

    /// Drains in a detached task, which inherits neither local values nor priority from the caller that
    /// scheduled the work.
    private func startDraining() { Task.detached { await self.drain(on: self.actor) } }

    fileprivate func remove(_ timer: ActorTimer) {
        work.withLock { work in
            let index = work.index(of: timer)
            guard index < work.timers.count, work.timers[index] === timer else { return }
            work.timers.remove(at: index)
            // Waking too early for the next timer is harmless; a task that waits for no timer would keep the
            // scheduler alive.
            if work.timers.isEmpty { wake(&work) }
        }
    }

    /// Waits for the first timer instead of the one before.
    private func wake(_ work: inout Work) {
        work.waker?.cancel()
        guard let due = work.timers.first?.due else { return work.waker = nil }
        work.waker = Task.detached {
            // A sleep of centuries would overflow the runtime's clock, so the timer is checked again after a
            // day.
            do { try await Task.sleep(for: min(due - self.now, .seconds(86400))) } catch { return }
            self.fireDueTimers()
        }
    }

    private func fireDueTimers() {
        // Taken and made ready in one step, so that two wakers at once do not change the order.
        enqueue { work in
            let due = work.timers.prefix { $0.due <= now }
            for timer in due { work.ready.append { timer.fire() } }
            work.timers.removeFirst(due.count)
            wake(&work)
        }
    }

    /// Runs one turn of ready work and continues in a new task, so that other work on the actor gets its
    /// turn.
    private func drain(on _: isolated any Actor) {
        let task = Self.currentTask
        let ready = work.withLock { work in
            work.drainer = task
            return work.ready.popFirst(atMost: Lane.turnLength)
        }
        ready.forEach { body in body() }
        let hasMore = work.withLock { work in
            work.drainer = nil
            work.isDraining = !work.ready.isEmpty
            return work.isDraining
        }
        if hasMore { startDraining() }
    }

    private static var currentTask: Int? {
        unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
    }
}

extension Scheduler where Self == ActorScheduler {
    /// The scheduler of the main actor, for `observe(on: .main)`.
    public static var main: ActorScheduler { ActorScheduler.main }
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
        // Released here, outside the lock.
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
