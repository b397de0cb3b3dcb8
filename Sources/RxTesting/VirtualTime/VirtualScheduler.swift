public import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A scheduler whose time moves only when a test advances it.
///
/// ```swift
/// let clock = VirtualScheduler()
/// let ticks = Recorder(Observable<Void, Never>.timer(.seconds(3600), on: clock), on: clock)
/// try clock.advance(by: .seconds(3600))
/// ```
///
/// Work runs inside ``advance(by:)``, ``advance(to:)`` and ``run()``, on the thread that calls them, in the
/// order of its due times; work with equal due times runs in the order in which it was scheduled.
///
/// Between those calls the test itself counts as the scheduler's work (see ``isCurrent``): its subscriptions,
/// values and cancels take effect at once. Events that other tasks, threads or schedulers send to a stream on
/// this scheduler wait for the next advance.
///
/// Thread-safe.
public final class VirtualScheduler: Scheduler, DatedScheduler {
    private struct Contents {
        var now: Duration = .zero
        /// Latest first, so that the next is taken from the end.
        var timers: [VirtualTimer] = []
        var scheduledCount = 0
        /// The caller that is advancing the time, if any.
        var runner: CallerIdentity?
    }

    /// The scheduler whose work is running, and the caller that runs it. A task started from within that work
    /// inherits the value but is another caller, and therefore not current.
    @TaskLocal private static var running: (scheduler: VirtualScheduler, runner: CallerIdentity)?

    private let stepLimit: Int
    private let maker = CallerIdentity.current
    private let contents = Mutex(Contents())

    /// The date at time zero.
    private let origin: Date

    /// Creates a scheduler whose time is zero.
    ///
    /// - Parameters:
    ///   - origin: the date at time zero. Default 2000-01-01 00:00:00 UTC.
    ///   - stepLimit: the most pieces of work that one advance runs before it fails with
    ///     ``VirtualTimeError/endless(steps:now:)``. Default 100,000.
    public init(
        startingAt origin: Date = Date(timeIntervalSince1970: 946_684_800), stepLimit: Int = 100_000
    ) {
        self.origin = origin
        self.stepLimit = stepLimit
    }

    /// The virtual date, which advances with ``now``.
    public var date: Date { origin.addingTimeInterval(now / .seconds(1)) }

    /// The virtual time, zero at first.
    public var now: Duration { contents.withLock { $0.now } }

    /// The number of waiting pieces of work, including those due now.
    public var pendingCount: Int { contents.withLock { $0.timers.count } }

    /// Whether the caller is this scheduler's work.
    ///
    /// While time is advanced, that is the running work. Between advances it is the task that created the
    /// scheduler (without a task, the thread), unless it is running work of another virtual scheduler.
    public var isCurrent: Bool {
        let caller = CallerIdentity.current
        if let runner = contents.withLock({ $0.runner }) {
            // Between two pieces of work the runner is inside this class only, which does not ask.
            return runner == caller && innermost(of: caller) === self
        }
        return maker == caller && innermost(of: caller) == nil
    }

    /// Runs `work` with the next advance, after all work that is already due.
    public func schedule(_ work: @escaping @Sendable () -> Void) {
        _ = schedule(after: .zero, work)
    }

    /// Runs `work` when time has advanced by `delay`. A delay below zero counts as zero.
    public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        contents.withLock { contents in
            let due = contents.now + max(delay, .zero)
            contents.scheduledCount += 1
            let timer = VirtualTimer(due: due, number: contents.scheduledCount, scheduler: self, work)
            let index = contents.timers.partitioningIndex { $0 < timer }
            contents.timers.insert(timer, at: index)
            return timer
        }
    }

    /// Advances time by `duration`, and runs the work that becomes due.
    public func advance(by duration: Duration) throws(VirtualTimeError) {
        try advance(to: now + duration)
    }

    /// Advances time to `time`, and runs the work that becomes due. For a time in the past it runs the work
    /// that is due now.
    public func advance(to time: Duration) throws(VirtualTimeError) {
        try runWork(until: max(time, now))
        contents.withLock { $0.now = max($0.now, time) }
    }

    /// Runs all work, advancing time as it becomes due, until none is left.
    public func run() throws(VirtualTimeError) {
        try runWork(until: nil)
    }

    /// Runs work, advancing time as it becomes due, until a condition holds or no work is left.
    package func run(until isDone: () -> Bool) throws(VirtualTimeError) {
        try runWork(until: nil, while: { !isDone() })
    }

    private func runWork(
        until limit: Duration?, while isWanted: () -> Bool = { true }
    ) throws(VirtualTimeError) {
        let runner = CallerIdentity.current
        let isFree = contents.withLock { contents in
            guard contents.runner == nil else { return false }
            contents.runner = runner
            return true
        }
        guard isFree else { throw .alreadyRunning }
        defer { contents.withLock { $0.runner = nil } }
        var steps = 0
        while isWanted(), let timer = takeNext(until: limit) {
            guard steps < stepLimit else {
                contents.withLock { $0.timers.append(timer) }
                throw .endless(steps: steps, now: now)
            }
            steps += 1
            Self.$running.withValue((self, runner)) { timer.fire() }
        }
    }

    /// Drops all work that waits.
    package func removeAll() {
        let timers = contents.withLock { contents in
            defer { contents.timers = [] }
            return contents.timers
        }
        // Outside of the lock, since the work may own objects that schedule more when they go.
        for timer in timers { timer.cancel() }
    }

    private func takeNext(until limit: Duration?) -> VirtualTimer? {
        contents.withLock { contents in
            guard let timer = contents.timers.last else { return nil }
            if let limit, timer.due > limit { return nil }
            contents.timers.removeLast()
            contents.now = max(contents.now, timer.due)
            return timer
        }
    }

    fileprivate func remove(_ timer: VirtualTimer) {
        contents.withLock { contents in
            let index = contents.timers.partitioningIndex { $0 <= timer }
            guard index < contents.timers.count, contents.timers[index] === timer else { return }
            contents.timers.remove(at: index)
        }
    }

    /// The virtual scheduler whose work the caller is running, if any.
    private func innermost(of caller: CallerIdentity) -> VirtualScheduler? {
        guard let running = Self.running, running.runner == caller else { return nil }
        return running.scheduler
    }
}

/// One piece of scheduled work, which is released when it has run or is cancelled.
private final class VirtualTimer: Cancellable {
    let due: Duration
    let number: Int
    private let work: Mutex<(@Sendable () -> Void)?>
    private weak let scheduler: VirtualScheduler?

    init(due: Duration, number: Int, scheduler: VirtualScheduler, _ work: @escaping @Sendable () -> Void) {
        self.due = due
        self.number = number
        self.scheduler = scheduler
        self.work = Mutex(work)
    }

    func cancel() {
        scheduler?.remove(self)
        // Released outside the lock, because objects that the work holds may call back.
        _ = takeWork()
    }

    func fire() { takeWork()?() }

    private func takeWork() -> (@Sendable () -> Void)? {
        work.withLock { work in
            defer { work = nil }
            return work
        }
    }

    static func < (one: VirtualTimer, other: VirtualTimer) -> Bool {
        (one.due, one.number) < (other.due, other.number)
    }

    static func <= (one: VirtualTimer, other: VirtualTimer) -> Bool {
        !(other < one)
    }
}

extension [VirtualTimer] {
    /// The first index at which `isBehind` holds, in an array where it holds for a tail.
    fileprivate func partitioningIndex(where isBehind: (VirtualTimer) -> Bool) -> Int {
        var range = 0..<count
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            range = isBehind(self[middle]) ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }
}

/// The reason why virtual time stopped early.
public enum VirtualTimeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// This many pieces of work ran in one call, and more are waiting: something schedules itself again
    /// without end.
    case endless(steps: Int, now: Duration)
    /// Time is already being advanced: by the work that asked, or by another thread.
    case alreadyRunning

    /// The problem, and how to solve it.
    public var description: String {
        switch self {
        case .endless(let steps, let now):
            """
            \(steps) pieces of work ran without an end; virtual time is \(now). \
            A timer that repeats needs advance(by:) instead of run(), or a higher stepLimit.
            """
        case .alreadyRunning:
            "virtual time is already being advanced; work on the scheduler and other threads cannot advance it"
        }
    }
}

/// Identifies the caller: by its task, which may change threads, otherwise by its thread.
enum CallerIdentity: Hashable, Sendable {
    case task(Int)
    case thread(UInt)

    static var current: CallerIdentity {
        // The task is used only during the call; only a number is kept.
        if let task = unsafe withUnsafeCurrentTask(body: { unsafe $0?.hashValue }) { return .task(task) }
        #if canImport(Darwin)
        return .thread(unsafe UInt(bitPattern: pthread_self()))
        #else
        return .thread(UInt(pthread_self()))
        #endif
    }
}
