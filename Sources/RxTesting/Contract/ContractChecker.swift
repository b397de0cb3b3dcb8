public import RxLite

/// Checks that a stream or an operator keeps the contract of Docs/Contracts.md.
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
        @Sendable (Observable<ContractElement, ContractFailure>, VirtualScheduler) -> Observable<
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
            for departure in Departure.all {
                violations += Run(apply, source: index, departure).violations()
            }
            violations += pauses(apply, source: index, isEager: isEager)
            violations += pauseAtTheEnd(apply, source: index, isPatient: !isEager && !isDeferred)
        }
        for place in Place.allCases {
            violations += earlyStop(apply, isDeferred: isDeferred, place)
            violations += lastingPause(apply, isEager: isEager, place)
        }
        if !isEager && !isDeferred { violations += pauseInFlight(apply) }
        if isLimited { violations += hotSourceBeforeALimit(apply) }
        violations += await threads(apply)
        return violations
    }

    /// When the subscriber cancels.
    enum Departure: CustomStringConvertible {
        case never
        case beforeStart
        case afterStart
        /// Within the value with this number, from 1.
        case inValue(Int)
        case atTime(Duration)

        static var all: [Departure] {
            [.never, .beforeStart, .afterStart] + [1, 2, 3, 5].map(Departure.inValue)
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
