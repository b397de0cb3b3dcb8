import RxLite
import Synchronization

/// Virtual time as a clock of the standard library, for code that takes `any Clock<Duration>` or sleeps in a task.
///
/// ```swift
/// let clock = VirtualScheduler()
/// let task = Task { try await Task.sleep(for: .seconds(3600), clock: clock.clock) }
/// ```
///
/// A sleeping task resumes when the scheduler has advanced to its deadline. In ``VirtualScheduler/run(_:)`` time advances
/// by itself; elsewhere the task runs on another thread, so a test awaits its effect after the advance.
public struct VirtualClock: Clock {
    /// A point in virtual time.
    public struct Instant: InstantProtocol {
        /// The virtual time.
        public var time: Duration

        /// The instant after `duration`.
        public func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }

        /// The time from this instant to another.
        public func duration(to other: Instant) -> Duration { other.time - time }

        /// Whether the first instant is earlier.
        public static func < (first: Instant, second: Instant) -> Bool { first.time < second.time }
    }

    let scheduler: VirtualScheduler

    /// The current virtual time.
    public var now: Instant { Instant(time: scheduler.now) }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until the scheduler has advanced to `deadline`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = VirtualSleeper()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleeper.begin(continuation, on: scheduler, after: deadline.time - scheduler.now)
            }
        } onCancel: {
            sleeper.end(throwing: CancellationError())
        }
    }
}

extension VirtualScheduler {
    /// The virtual time as a clock of the standard library.
    public var clock: VirtualClock { VirtualClock(scheduler: self) }

    /// Runs asynchronous code in virtual time: time advances to the next due work whenever the code waits.
    ///
    /// ```swift
    /// let cart = try await clock.run { try await client.get("/cart").decode(Cart.self).value() }
    /// ```
    ///
    /// The code, its child tasks and the actors that they call run on this scheduler, one piece of work after another, so
    /// each run is the same. A `Task { }`, the main actor, and closures of streams such as `async` run elsewhere; time
    /// stands still while nothing but them has work.
    ///
    /// - Throws: the error of `body`, or ``VirtualTimeError``, after which `body` does not continue. If the calling task
    ///   is cancelled, so is `body`.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let executor = VirtualExecutor(self)
        let task = Task(executorPreference: executor) {
            defer { executor.isOver.store(true, ordering: .releasing) }
            return try await body()
        }
        return try await withTaskCancellationHandler {
            do {
                while true {
                    try run(until: { executor.isOver.load(ordering: .acquiring) })
                    if executor.isOver.load(ordering: .acquiring) { break }
                    // The code waits for another executor.
                    await Task.yield()
                }
            } catch {
                task.cancel()
                throw error
            }
            return try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Runs the jobs of tasks as work of a virtual scheduler.
private final class VirtualExecutor: TaskExecutor {
    /// Whether the code has ended.
    let isOver = Atomic<Bool>(false)
    private let scheduler: VirtualScheduler

    init(_ scheduler: VirtualScheduler) { self.scheduler = scheduler }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        scheduler.schedule { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// One sleeping task.
private final class VirtualSleeper: Sendable {
    private struct Contents {
        var continuation: CheckedContinuation<Void, any Error>?
        var timer: (any Cancellable)?
        /// Set if the task was cancelled before it slept.
        var failure: (any Error)?
    }

    private let contents = Mutex(Contents())

    func begin(
        _ continuation: CheckedContinuation<Void, any Error>, on scheduler: VirtualScheduler,
        after delay: Duration
    ) {
        let failure = contents.withLock { contents in
            if contents.failure == nil { contents.continuation = continuation }
            return contents.failure
        }
        if let failure { return continuation.resume(throwing: failure) }
        let timer = scheduler.schedule(after: delay) { self.end(throwing: nil) }
        let isOver = contents.withLock { contents in
            if contents.continuation != nil { contents.timer = timer }
            return contents.continuation == nil
        }
        if isOver { timer.cancel() }
    }

    func end(throwing failure: (any Error)?) {
        let (continuation, timer) = contents.withLock { contents in
            defer { (contents.continuation, contents.timer) = (nil, nil) }
            if contents.continuation == nil, let failure { contents.failure = failure }
            return (contents.continuation, contents.timer)
        }
        timer?.cancel()
        if let failure { continuation?.resume(throwing: failure) } else { continuation?.resume() }
    }
}
