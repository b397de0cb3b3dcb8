public import RxLite

/// Checks that a stream or an operator keeps the contract of
/// `Sources/RxNetworking/RxNetworking.docc/RxLite/Contracts.md`.
///
/// ```swift
/// let violations = await ContractChecker.violations { source, clock in
///     source.debounce(.seconds(1), on: clock)
/// }
/// #expect(violations.isEmpty)
/// ```
///
/// It applies the operator to sources that send at once, over time, without end, not at all, from several
/// threads, and on another scheduler than the subscriber's. It lets them end; cancels them at once, within
/// each value, and between values; and pauses and resumes them, also while a value or the end is under way. Each time
/// it looks for events that overlap, or that come after the end or after the cancel, for sources that were not stopped
/// or not torn down exactly once, and for timers, values and callbacks that are left behind.
public enum ContractChecker {
    /// Applies an operator to a source and a clock.
    public typealias Application<Output: Sendable, Failure: Error> =
        @Sendable (Observable<ContractElement, any Error>, VirtualScheduler) -> Observable<
            Output, Failure
        >

    /// All violations of the operator, in all situations.
    ///
    /// - Parameters:
    ///   - isEager: whether the operator takes values from a source while the subscriber is paused (it has a
    ///     buffer, which must have a limit). Default `false`.
    ///   - isDeferred: whether the operator delivers values later than it takes them, so that it cannot stop
    ///     a source that sends at once and without end. Default `false`.
    ///   - isLimited: whether the operator begins no further streams while the subscriber is paused, as
    ///     operators with a limit do. Default `false`: it may begin some.
    ///   - apply: applies the operator to the source.
    public static func violations<Output: Sendable, Failure: Error>(
        isEager: Bool = false, isDeferred: Bool = false, isLimited: Bool = false,
        _ apply: @escaping Application<Output, Failure>
    ) async -> [ContractViolation] {
        var violations: [ContractViolation] = []
        for index in sources(ContractProbe(""), VirtualScheduler()).indices {
            for cancellation in Cancellation.all {
                violations += Run(apply, source: index, cancellation).violations()
            }
            violations += pauses(apply, source: index, isEager: isEager)
            violations += pauseAtTheEnd(apply, source: index, isPatient: !isEager && !isDeferred)
        }
        for source in SourceScheduler.allCases {
            violations += earlyStop(apply, isDeferred: isDeferred, source)
            violations += lastingPause(apply, isEager: isEager, source)
        }
        if !isEager && !isDeferred { violations += pauseInFlight(apply) }
        if isLimited { violations += hotSourceBeforeALimit(apply) }
        violations += await threads(apply)
        return violations
    }

    /// When the subscriber cancels.
    enum Cancellation: CustomStringConvertible {
        case never
        case beforeStart
        case afterStart
        /// Within the value with this number, from 1.
        case inValue(Int)
        case atTime(Duration)

        static var all: [Cancellation] {
            // The times are those of events of `timed(_:_:_:_:)`, one a second, and times between them.
            [.never, .beforeStart, .afterStart] + [1, 2, 3, 5].map(Cancellation.inValue)
                + [0, 500, 1000, 1500, 3000, 3500, 6500].map { .atTime(.milliseconds($0)) }
        }

        var description: String {
            switch self {
            case .never: "never cancelled"
            case .beforeStart: "cancelled before the start"
            case .afterStart: "cancelled after the start"
            case .inValue(let number): "cancelled in value \(number)"
            case .atTime(let time): "cancelled at \(time)"
            }
        }
    }
}

/// A violation of the contract by a stream.
public struct ContractViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules of `Sources/RxNetworking/RxNetworking.docc/RxLite/Contracts.md` that can be broken.
    public enum Rule: String, Sendable {
        /// An event began while another was being delivered.
        case serial
        /// The stream ended twice.
        case oneEnd
        /// A value came after the end.
        case nothingAfterEnd
        /// An event came after the subscription was cancelled or its scope closed.
        case silentAfterCancel
        /// A teardown that a source registered with `onClose` ran more than once.
        case teardownOnce
        /// A source was not torn down at the end.
        case teardown
        /// Timers were left after the end.
        case noTimersLeft
        /// Values, callbacks or the scope were still held after the end.
        case nothingAlive
        /// A source without end was not stopped.
        case stopsEarly
        /// A source that can wait continued while the subscription was paused.
        case backpressure
        /// After a pause, other events came than without it.
        case sameAfterPause
        /// The stream scheduled work without end, so that virtual time stopped with an error.
        case endsInVirtualTime
    }

    /// The broken rule.
    public let rule: Rule
    /// The situation that the checker had set up.
    public let situation: String
    /// The observation.
    public let detail: String

    /// One line.
    public var description: String { "\(rule.rawValue), \(situation): \(detail)" }
}

extension ContractChecker {
    /// Pausing must stop sources that can wait, and change nothing else.
    static func pauses<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, isEager: Bool
    ) -> [ContractViolation] {
        let name = sources(ContractProbe(""), VirtualScheduler())[index].name
        let plain = ContractProbe(name)
        run(apply, source: index, plain) { $0.start() }

        let before = ContractProbe("\(name), paused before the start, then resumed")
        run(apply, source: index, before) { consumer in
            consumer.pause()
            consumer.start()
            if before.sent > 0 && !isEager {
                before.report(.backpressure, "\(before.sent) values were taken while paused")
            }
            consumer.resume()
        }
        let within = ContractProbe("\(name), paused and resumed from within value 2")
        run(apply, source: index, within) { consumer in
            consumer.pausesInValue = 2
            consumer.start()
        }
        for probe in [before, within] where probe.outcome != plain.outcome {
            probe.report(.sameAfterPause, "\(probe.outcome) instead of \(plain.outcome)")
        }
        return before.violations + within.violations
    }

    static func run<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>, source index: Int, _ probe: ContractProbe,
        _ start: (Consumer<Output, Failure>) -> Void
    ) {
        let clock = VirtualScheduler()
        let consumer = Consumer(apply(sources(probe, clock)[index].source, clock), probe)
        start(consumer)
        do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
        consumer.cancel()
    }

    /// Sends values from several tasks at once, with a cancel in between.
    static func threads<Output, Failure>(
        _ apply: @escaping Application<Output, Failure>
    ) async -> [ContractViolation] {
        var violations: [ContractViolation] = []
        for last in [Int.max, 100] {
            let clock = VirtualScheduler()
            let cancellation = last == .max ? "never cancelled" : "cancelled in value \(last)"
            let probe = ContractProbe("source on 4 threads, \(cancellation)")
            let signal = Signal<ContractElement>()
            let source = Observable<ContractElement, any Error> { observer in
                probe.open(observer.scope)
                signal.observable.setFailureType().subscribe(observer)
            }
            let consumer = Consumer(apply(source, clock), probe)
            consumer.cancelsInValue = last
            consumer.start()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for number in 0..<500 { signal.send(ContractElement(number, probe)) }
                    }
                }
            }
            do { try clock.advance(by: patience) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            consumer.cancel()
            do { try clock.advance(by: .zero) } catch { probe.report(.endsInVirtualTime, "\(error)") }
            if probe.notTornDownCount != 0 {
                probe.report(.teardown, "\(probe.notTornDownCount) sources were not torn down")
            }
            violations += probe.violations
        }
        return violations
    }
}

extension ContractChecker {
    /// How long virtual time runs in each situation: longer than any timer of an operator under test. The slowest of the
    /// checker's sources takes 7 s.
    static var patience: Duration { .seconds(3600) }

    /// One situation: a source, an operator, and the time of the cancel.
    struct Run<Output: Sendable, Failure: Error> {
        private let apply: Application<Output, Failure>
        private let source: Int
        private let cancellation: Cancellation

        init(_ apply: @escaping Application<Output, Failure>, source: Int, _ cancellation: Cancellation) {
            self.apply = apply
            self.source = source
            self.cancellation = cancellation
        }

        func violations() -> [ContractViolation] {
            let clock = VirtualScheduler()
            let name = sources(ContractProbe(""), clock)[source].name
            let probe = ContractProbe("\(name), \(cancellation)")
            let isReleased = subscribeAndCancel(probe, clock)
            if probe.notTornDownCount != 0 {
                probe.report(.teardown, "\(probe.notTornDownCount) sources were not torn down")
            }
            if clock.pendingCount > 0 { probe.report(.noTimersLeft, "\(clock.pendingCount) timers left") }
            if probe.alive != 0 { probe.report(.nothingAlive, "\(probe.alive) values are still held") }
            if !isReleased() { probe.report(.nothingAlive, "the scope is still held") }
            return probe.violations
        }

        /// Returns a check of whether the subscription has been released. This function itself keeps nothing
        /// of it.
        private func subscribeAndCancel(_ probe: ContractProbe, _ clock: VirtualScheduler) -> () -> Bool {
            let consumer = Consumer(apply(sources(probe, clock)[source].source, clock), probe)
            if case .inValue(let number) = cancellation { consumer.cancelsInValue = number }
            if case .beforeStart = cancellation { consumer.cancel() }
            consumer.start()
            if case .afterStart = cancellation { consumer.cancel() }
            do {
                if case .atTime(let time) = cancellation {
                    try clock.advance(to: time)
                    consumer.cancel()
                }
                try clock.advance(by: patience)
            } catch {
                probe.report(.endsInVirtualTime, "\(error)")
            }
            if !probe.hasEnded { consumer.cancel() }
            weak let scope = consumer.scope
            return { scope == nil }
        }
    }

    /// A subscriber with a separate scope, which it can pause and close before the start.
    final class Consumer<Output: Sendable, Failure: Error> {
        let scope: Scope
        var cancelsInValue = Int.max
        var pausesInValue = Int.max
        var staysPausedFromValue = Int.max
        /// The number of values taken from the source when the pause began.
        var sentAtPause: Int? { hasPaused.value == 0 ? nil : pausedAfter.value }
        let probe: ContractProbe
        private let stream: Observable<Output, Failure>
        private let pausedAfter = Counter()
        private let hasPaused = Counter()

        /// - Parameter scheduler: the consumer's scheduler. Default: the stream's scheduler.
        init(
            _ stream: Observable<Output, Failure>, _ probe: ContractProbe,
            on scheduler: (any Scheduler)? = nil
        ) {
            self.stream = stream
            self.probe = probe
            scope = Scope(lane: Lane(scheduler: scheduler ?? stream.scheduler))
        }

        func start() {
            let (scope, probe, last, pausing) = (scope, probe, cancelsInValue, pausesInValue)
            let (staying, pausedAfter, hasPaused) = (staysPausedFromValue, pausedAfter, hasPaused)
            let observer = Observer<Output, Failure>(
                scope: scope,
                next: { _ in
                    probe.event {
                        probe.value()
                        if probe.valueCount == pausing {
                            scope.pause()
                            scope.resume()
                        }
                        if probe.valueCount == staying {
                            scope.pause()
                            pausedAfter.set(probe.sent)
                            hasPaused.add()
                        }
                        guard probe.valueCount == last else { return }
                        probe.close()
                        scope.cancel()
                    }
                },
                end: { completion in
                    probe.event { probe.end("\(completion)") }
                    scope.close()
                })
            scope.lane.enter { [stream] in stream.subscribe(observer) }
        }

        /// Can be called from anywhere, also before the start.
        func pause() {
            scope.lane.enter { [scope] in scope.pause() }
        }

        /// Advances time until a pause has begun.
        func awaitPause(_ clock: VirtualScheduler) throws(VirtualTimeError) {
            for _ in 0..<600 where !scope.isPaused && scope.isOpen {
                try clock.advance(by: .milliseconds(100))
            }
        }

        func resume() {
            scope.lane.enter { [scope] in scope.resume() }
        }

        func cancel() {
            // After the end there is nothing to cancel, and no event may follow.
            probe.close()
            scope.cancel()
        }
    }
}
