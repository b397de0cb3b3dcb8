public import Synchronization

/// The occasions on which a shared stream forgets its run, so that the next subscriber starts a new one.
public struct ShareReset: OptionSet, Sendable {
    /// The bits.
    public var rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the last subscriber has left; the source is cancelled. Without it the source continues.
    public static let unused = ShareReset(rawValue: 1)
    /// When the source has finished. Without it later subscribers get the replay and the end.
    public static let finished = ShareReset(rawValue: 2)
    /// When the source has failed. Without it later subscribers get the replay and the error.
    public static let failed = ShareReset(rawValue: 4)
    /// On all three occasions.
    public static let always: ShareReset = [.unused, .finished, .failed]
}

extension Observable {
    /// One run of the stream for all subscribers while it lasts.
    ///
    /// ```
    ///         --1--2--3--|        runs once
    /// share()
    ///         --1--2--3--|
    ///            ^-2--3--|        subscribed later
    /// share(replay: 1)
    ///            1-2--3--|        the same, with the value before at once
    /// ```
    ///
    /// The first subscriber starts the run. Replayed and live values arrive in order, without duplicates or
    /// gaps.
    ///
    /// A paused subscriber does not block the others: they get their values, and the paused subscriber's
    /// values wait. The source is paused while all of its subscribers are, and where `policy` requires it.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten, immediately. Default: always. To forget it later, use
    ///     ``share(replay:reset:keepingAlive:on:buffering:countingDropped:)`` or
    ///     ``share(replay:reset:buffering:countingDropped:when:)``.
    ///   - policy: how many values may wait for one subscriber that is paused, or slower than the source.
    ///     Default: the source is paused when 256 wait for any subscriber, until 64 are left. With
    ///     ``BufferPolicy/fail(above:with:)`` the subscriber that falls behind fails, and the others
    ///     continue.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}

extension Observable {
    /// One run of the stream for all subscribers, which outlives its last subscriber for a time.
    ///
    /// ```
    ///                                   --1--2--3--|        runs once, joined from 0 to 3 ms
    /// share(keepingAlive: 4 ms)
    ///                                   --1--
    ///                                        -2--3--|       joined after 4 ms: the same run
    /// ```
    ///
    /// ```swift
    /// let position = sensor.share(replay: 1, keepingAlive: .seconds(5))
    /// ```
    ///
    /// When the last subscriber has left, the source continues for `time`. It is then cancelled and its run
    /// forgotten, unless a subscriber has joined meanwhile. A run that has ended is forgotten at once, as
    /// with ``share(replay:reset:buffering:countingDropped:)``. A source that sends at once and without end
    /// keeps its thread until the time is up.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten. Without ``ShareReset/unused`` the source continues, and `time`
    ///     has no effect. Default: always.
    ///   - time: how long a run without subscribers is kept.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - policy: how many values may wait for one subscriber; see
    ///     ``share(replay:reset:buffering:countingDropped:)``.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always, keepingAlive time: Duration,
        on scheduler: (any Scheduler)? = nil,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return share(
            replay: replay, reset: reset, buffering: policy, countingDropped: droppedCount,
            when: { end in end == nil ? Observable<Void, Never>.timer(time, on: clock) : .just(()) })
    }
}

extension Observable {
    /// One run of the stream for all subscribers while it lasts, forgotten when another stream sends.
    ///
    /// ```
    ///                                       --1--2--3--4--|        runs once, joined from 0 to 3 ms
    /// share(when: { _ in ----x })
    ///                                       --1--                  the notice is due at 7 ms
    ///                                            -2--3--4--|       and withdrawn, because a subscriber joins before
    /// ```
    ///
    /// ```swift
    /// let prices = feed.share(replay: 1, reset: [.unused, .failed], when: { end in
    ///     end == nil ? background.observable : .just(())
    /// })
    /// ```
    ///
    /// When the last subscriber has left, or the source has ended, `notices` makes a stream whose first value
    /// forgets the run; if the source still runs, it is cancelled. A subscriber that joins a running source
    /// cancels that stream and thereby the reset; so does the end of the source, for which `notices` is
    /// called again. A subscriber that joins after the end gets the replay and the end until the notice
    /// arrives.
    ///
    /// If the stream of notices ends without a value, or never sends one, the run is never forgotten: a
    /// source without subscribers then runs to its end. Use `catch` to turn a stream that can fail into
    /// one that cannot.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when `notices` is called. In other cases the run is not forgotten. Default: always.
    ///   - policy: how many values may wait for one subscriber; see
    ///     ``share(replay:reset:buffering:countingDropped:)``.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    ///   - notices: called with the source's end, or with `nil` when the last subscriber has left before the
    ///     end, on the thread where that happens. A value that its stream sends at once resets before the end
    ///     is delivered.
    @inlinable
    public func share<Notice>(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil,
        when notices: @escaping @Sendable (Completion<Failure>?) -> Observable<Notice, Never>
    ) -> Observable {
        let shared = SharedRun(
            self, replay: replay, reset: reset, resetNotifiers: { end in notices(end).map { _ in () } })
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}

// MARK: - One run

/// The source of a shared stream: its scope, and the demand of its subscribers.
@usableFromInline
class SharedSource: @unchecked Sendable {
    // Unchecked, without exclusivity checks: `isPaused` is accessed only from inside the scope's lane, which
    // is serial.
    @usableFromInline final let scope: Scope
    @usableFromInline final let demand = Mutex(SharedDemand())
    /// The consequence of `demand`. Changed immediately and from any lane, because a source that sends
    /// without end must see it between two values.
    @usableFromInline final let mustPause = Atomic<Bool>(false)
    /// Whether ``applyBackpressure()`` has paused the scope.
    @safe @exclusivity(unchecked) @usableFromInline final var isPaused = false

    /// A source that is about to be started: its lane is taken.
    @inlinable
    init(on scheduler: (any Scheduler)?, startedIn lane: Lane) {
        scope = Scope(lane: .forSharing(on: scheduler, startedIn: lane))
        scope.lane.takeUnshared()
    }

    /// Sends a value to all subscribers of `multicaster`. Only from inside the source's lane.
    ///
    /// If another thread is in the multicaster, the value waits for it, and the source for the value, so that
    /// at most one value ever waits.
    @inlinable
    final func send<Element, Failure>(_ value: Element, to multicaster: Multicaster<Element, Failure>) {
        if multicaster.lane.tryEnter() {
            multicaster.deliver(value)
            multicaster.lane.leave()
        } else {
            changeDemand { $0.full += 1 }
            multicaster.lane.enqueue {
                multicaster.deliver(value)
                self.changeDemand { $0.full -= 1 }
            }
        }
    }

    /// Changes the demand, from any lane.
    @usableFromInline
    final func changeDemand(_ change: (inout SharedDemand) -> Void) {
        let isChanged = demand.withLock { demand in
            change(&demand)
            return mustPause.exchange(demand.mustPause, ordering: .relaxed) != demand.mustPause
        }
        if isChanged { scope.enter { self.applyBackpressure() } }
    }

    /// Pauses or resumes the source if its state differs from the demand. Only from inside its lane.
    @inlinable
    final func applyBackpressure() {
        let mustPause = mustPause.load(ordering: .relaxed)
        guard mustPause != isPaused else { return }
        isPaused = mustPause
        if mustPause { scope.pause() } else { scope.resume() }
    }
}

/// One run of a shared stream: its source and its subscribers.
@usableFromInline
final class SharedConnection<Element: Sendable, Failure: Error>: SharedSource, @unchecked Sendable {
    // Unchecked, like its superclass.
    @usableFromInline let multicaster: Multicaster<Element, Failure>

    @inlinable
    init(replaying count: Int, on scheduler: (any Scheduler)?, startedIn lane: Lane) {
        multicaster = Multicaster(replaying: count)
        super.init(on: scheduler, startedIn: lane)
    }
}

/// The demand of a shared stream's subscribers on its source.
@usableFromInline
struct SharedDemand: Sendable {
    /// The state of one subscriber.
    @usableFromInline
    enum Status: UInt8, AtomicRepresentable, Sendable {
        case joining
        case listening
        case paused
        case gone
    }

    /// The number of subscribers that take values.
    private var listening = 0
    /// The number of paused subscribers.
    private var paused = 0
    /// The number of full queues, for which the source must pause.
    @usableFromInline var full = 0

    @usableFromInline
    init() {}

    /// A paused subscriber pauses the source only if no other subscriber takes values.
    @usableFromInline var mustPause: Bool { full > 0 || paused > 0 && listening == 0 }

    mutating func add(_ status: Status) { change(status, by: 1) }

    mutating func remove(_ status: Status) { change(status, by: -1) }

    private mutating func change(_ status: Status, by difference: Int) {
        switch status {
        case .listening: listening += difference
        case .paused: paused += difference
        case .joining, .gone: break
        }
    }
}
