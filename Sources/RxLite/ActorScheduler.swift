import Synchronization

/// Runs work on an actor, the main actor for one, and keeps the time of the continuous clock.
///
/// ```swift
/// goods.observe(on: ActorScheduler.main).subscribe { goods in
///     MainActor.assumeIsolated { show(goods) }
/// }
/// ```
public final class ActorScheduler: Scheduler {
    /// Runs work on the main actor.
    public static let main = ActorScheduler(MainActor.shared)
    /// A serial context of the library's own: the clock of operators that are given no other.
    public static let shared = ActorScheduler(Background())

    private actor Background {}

    private struct Work {
        var ready: [@Sendable () -> Void] = []
        var isDraining = false
        /// Identifies the task that drains, while it does.
        var drainer: Int?
        /// In order of their due time; those due together in order of their scheduling.
        var timers: [ActorTimer] = []
        var waker: Task<Void, Never>?
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
        let mustStart = work.withLock { work in
            work.ready.append(body)
            defer { work.isDraining = true }
            return !work.isDraining
        }
        if mustStart { Task { await drain(on: actor) } }
    }

    /// Runs `body` on the actor, `delay` from now.
    public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any Cancellable {
        let timer = ActorTimer(due: now + delay, body)
        work.withLock { work in
            let index = work.timers.firstIndex { $0.due > timer.due } ?? work.timers.endIndex
            work.timers.insert(timer, at: index)
            if index == 0 { wake(&work) }
        }
        return timer
    }

    /// Has the first timer waited for, instead of the one before.
    private func wake(_ work: inout Work) {
        work.waker?.cancel()
        guard let due = work.timers.first?.due else { return work.waker = nil }
        work.waker = Task {
            do { try await Task.sleep(for: due - now) } catch { return }
            fireDueTimers()
        }
    }

    private func fireDueTimers() {
        let due = work.withLock { work in
            let count = work.timers.prefix { $0.due <= now }.count
            let due = Array(work.timers.prefix(count))
            work.timers.removeFirst(count)
            wake(&work)
            return due
        }
        for timer in due { schedule(timer.fire) }
    }

    private func drain(on _: isolated any Actor) {
        let task = Self.currentTask
        while true {
            let ready = work.withLock { work in
                let ready = work.ready
                work.ready = []
                work.isDraining = !ready.isEmpty
                work.drainer = ready.isEmpty ? nil : task
                return ready
            }
            if ready.isEmpty { return }
            for body in ready { body() }
        }
    }

    private static var currentTask: Int? {
        unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
    }
}

/// One piece of delayed work.
private final class ActorTimer: Cancellable {
    let due: Duration
    private let body: Mutex<(@Sendable () -> Void)?>

    init(due: Duration, _ body: @escaping @Sendable () -> Void) {
        self.due = due
        self.body = Mutex(body)
    }

    func cancel() {
        let dropped = body.withLock { body in
            defer { body = nil }
            return body
        }
        _ = dropped
    }

    @Sendable
    func fire() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}
