public import RxHTTP
public import RxLite
import Synchronization

/// When a second attempt is sent in parallel to a slow one.
///
/// ```swift
/// configuration.options.hedging = .percentile(0.95)
/// ```
///
/// The first response is the result, and the other attempt is cancelled. Only requests that may be repeated and whose
/// body is replayable are hedged, and each hedge is taken from the ``RetryBudget``.
public struct Hedging: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case never
        case fixed(Duration)
        case percentile(Double, initially: Duration)
    }

    private let rule: Rule

    /// Never sends a second attempt.
    public static let never = Hedging(rule: .never)

    /// Sends a second attempt after this delay.
    public static func after(_ delay: Duration) -> Hedging { Hedging(rule: .fixed(delay)) }

    /// Sends a second attempt when the first takes longer than this share of the recent attempts to the same
    /// host.
    ///
    /// - Parameters:
    ///   - share: from 0 to 1. Default 0.95: one attempt in twenty is hedged.
    ///   - initially: the delay until ten attempts are known. Default 1 s.
    public static func percentile(_ share: Double = 0.95, initially: Duration = .seconds(1)) -> Hedging {
        Hedging(rule: .percentile(share, initially: initially))
    }

    /// Whether there are second attempts at all.
    var isOn: Bool { rule != .never }

    /// The delay before the second attempt.
    func delay(_ latencies: RecentLatencies) -> Duration? {
        switch rule {
        case .never: nil
        case .fixed(let delay): delay
        case .percentile(let share, let initially): latencies.percentile(share) ?? initially
        }
    }
}

// MARK: - The operator

extension Observable where Failure == NetworkError {
    /// Subscribes to the stream a second time when the first subscription has been silent for a while; the
    /// attempt that emits the first value continues, and the other is cancelled.
    ///
    /// ```swift
    /// client.response(goods).hedge(.after(.milliseconds(80)), if: goods.isRepeatable)
    /// ```
    ///
    /// A failure before the second attempt begins fails the stream. After that, a failure that another attempt cannot
    /// avoid, such as a status that is not temporary, fails the stream too; after any other failure, the stream waits
    /// for the other attempt, and the last failure is final.
    ///
    /// A percentile is computed from the earlier subscriptions to this stream, at least ten. A stream that is built for
    /// each call has none: use ``Hedging/after(_:)`` there, or the client's ``RequestOptions/hedging``.
    ///
    /// - Parameters:
    ///   - hedging: the rule for the delay before the second attempt.
    ///   - isRepeatable: whether the request may be sent twice.
    ///   - mayRepeat: asked before the second attempt, for example ``RetryBudget/spend(for:)``. Default: always.
    public func hedge(
        _ hedging: Hedging, if isRepeatable: Bool,
        asking mayRepeat: @escaping @Sendable () -> Bool = { true }
    ) -> Observable {
        hedge(hedging, if: isRepeatable, among: RecentLatencies(), asking: mayRepeat)
    }

    /// Hedges with latencies that several streams share.
    func hedge(
        _ hedging: Hedging, if isRepeatable: Bool, among latencies: RecentLatencies,
        asking mayRepeat: @escaping @Sendable () -> Bool = { true }
    ) -> Observable {
        guard isRepeatable, hedging.isOn else { return self }
        return .hedged(by: hedging, latencies, on: scheduler, asking: mayRepeat) { onSend in
            onSend()
            return self
        }
    }

    /// - Parameter attempt: makes the stream of an attempt, which calls `onSend` when it begins to wait for the server.
    static func hedged(
        by hedging: Hedging, _ latencies: RecentLatencies, on scheduler: (any Scheduler)?,
        asking mayRepeat: @escaping @Sendable () -> Bool, trace: Trace? = nil,
        _ attempt: @escaping @Sendable (_ onSend: @escaping @Sendable () -> Void) -> Observable
    ) -> Observable {
        let clock = scheduler ?? ActorScheduler.shared
        return Observable(scheduler: scheduler) { observer in
            HedgedRun(attempt, hedging, latencies, mayRepeat, trace, on: clock, into: observer).begin()
        }
    }
}

/// One attempt and its hedge.
private final class HedgedRun<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let attempt: @Sendable (@escaping @Sendable () -> Void) -> Observable<Element, NetworkError>
    private let hedging: Hedging
    private let latencies: RecentLatencies
    private let mayRepeat: @Sendable () -> Bool
    private let trace: Trace?
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    /// The attempts, each with the time at which it was sent.
    private var running: [(scope: Scope, start: Duration?)] = []
    private let timer: OperatorTimer
    private var hasWinner = false
    /// Whether the time until the second attempt has begun, which happens once.
    private var isTimerSet = false

    init(
        _ attempt: @escaping @Sendable (@escaping @Sendable () -> Void) -> Observable<Element, NetworkError>,
        _ hedging: Hedging, _ latencies: RecentLatencies, _ mayRepeat: @escaping @Sendable () -> Bool,
        _ trace: Trace?, on clock: any Scheduler, into observer: Observer<Element, NetworkError>
    ) {
        self.attempt = attempt
        self.hedging = hedging
        self.latencies = latencies
        self.mayRepeat = mayRepeat
        self.trace = trace
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
    }

    /// Begins an attempt.
    func begin() {
        guard scope.isOpen else { return }
        let attempt = scope.child()
        running.append((attempt, nil))
        // Sent from within the subscription, or from the lane of an interceptor's stream.
        self.attempt { attempt.enter { self.didSend(attempt) } }
            .subscribe(
                Observer(
                    scope: attempt,
                    next: { value in
                        self.win(attempt)
                        self.observer.next(value)
                    },
                    end: { completion in
                        if case .failed(let error) = completion, !self.hasWinner, error.mayBeMended {
                            return self.fail(error, of: attempt)
                        }
                        self.win(attempt)
                        self.scope.close()
                        self.observer.end(completion)
                    }))
    }

    /// Starts the time of an attempt, and the time until the second one. Redirects do not start it again.
    private func didSend(_ attempt: Scope) {
        guard !hasWinner, let index = running.firstIndex(where: { $0.scope === attempt }),
            running[index].start == nil
        else { return }
        running[index].start = timer.clock.now
        guard !isTimerSet, let delay = hedging.delay(latencies) else { return }
        isTimerSet = true
        timer.set(after: delay) {
            guard self.mayRepeat() else { return }
            self.trace?.emit(.hedged(after: delay))
            self.begin()
        }
    }

    /// Cancels the other attempts; the time they have taken is recorded too, because they are the slow ones.
    private func win(_ winner: Scope) {
        guard !hasWinner else { return }
        hasWinner = true
        timer.cancel()
        let (now, all) = (timer.clock.now, running)
        running = []
        for (attempt, start) in all {
            if let start { latencies.record(now - start) }
            if attempt !== winner { attempt.close() }
        }
    }

    private func fail(_ error: NetworkError, of attempt: Scope) {
        attempt.close()
        running.removeAll { $0.scope === attempt }
        guard running.isEmpty else { return }
        scope.close()
        observer.fail(error)
    }
}

extension NetworkError {
    /// Whether another attempt at the same time may succeed: after any failure with a recovery option, and after a
    /// temporary status, but not after a status that no retry would change.
    fileprivate var mayBeMended: Bool { code == .status ? hasTransientStatus : !code.recoveryOptions.isEmpty }
}

// MARK: - Latencies

/// The latencies of recent requests, for ``Hedging/percentile(_:initially:)``. Safe from any thread.
final class RecentLatencies: Sendable {
    /// The number of latencies kept.
    private static let capacity = 128
    /// The minimum number of latencies for a percentile; the documentation of ``Hedging`` and of the operator says ten.
    private static let least = 10
    /// The number of new latencies after which they are sorted again.
    private static let batch = 8

    private struct Contents {
        /// In order of arrival, until there are as many as are kept; then the one at `next` is replaced.
        var latest: [Duration] = []
        var next = 0
        /// The copy that percentiles are read from; `unsorted` latencies have arrived since it was made.
        var sorted: [Duration] = []
        var unsorted = 0
    }

    private let contents = Mutex(Contents())

    /// Records the latency of a request, or the time until it was given up.
    func record(_ latency: Duration) {
        contents.withLock { contents in
            contents.unsorted += 1
            if contents.latest.count < Self.capacity { return contents.latest.append(latency) }
            contents.latest[contents.next] = latency
            contents.next = (contents.next + 1) % Self.capacity
        }
    }

    /// The latency that this share of the kept ones did not exceed; `nil` while there are fewer than ``least``. The
    /// newest, fewer than ``batch``, may not be counted yet.
    ///
    /// - Parameter share: from 0 to 1.
    func percentile(_ share: Double) -> Duration? {
        contents.withLock { contents in
            guard contents.latest.count >= Self.least else { return nil }
            if contents.sorted.isEmpty || contents.unsorted >= Self.batch {
                contents.sorted = contents.latest.sorted()
                contents.unsorted = 0
            }
            let count = contents.sorted.count
            let rank = share.isFinite ? (share * Double(count)).rounded(.up) : 0
            return contents.sorted[Int(min(max(rank, 1), Double(count))) - 1]
        }
    }
}
