#if Outbox
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// When an entry is sent again after a failure.
///
/// The waits grow by ``factor`` from ``first`` up to ``longest``: with the defaults 2 s, 4 s, 8 s … up to an hour, so
/// that a server that is away for days gets an attempt an hour. A `Retry-After` of the server is the minimum.
public struct OutboxSchedule: Sendable, Hashable {
    /// The wait after the first failure. Default 2 s.
    public var first: Duration
    /// The factor from one wait to the next, at least 1. Default 2.
    public var factor: Double
    /// The longest wait. Default an hour.
    public var longest: Duration
    /// The share of a wait that is random, from 0 to 1, so that many programs do not return at once. Default 0.2.
    public var jitter: Double

    /// Creates a schedule.
    public init(
        first: Duration = .seconds(2), factor: Double = 2, longest: Duration = .seconds(3600),
        jitter: Double = 0.2
    ) {
        self.first = first
        self.factor = factor
        self.longest = longest
        self.jitter = jitter
    }

    /// The wait after an attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of the failed attempt, from 1.
    ///   - random: a number from 0 up to 1.
    func wait(after attempt: Int, random: Double) -> Duration {
        // In seconds up to 30 years, since a duration cannot hold the products of extreme settings. Comparisons with a
        // value that is not a number are false.
        let limit = min(longest / .seconds(1), 1e9)
        var wait = max(first / .seconds(1), 0.001)
        let factor = factor > 1 ? factor : 1
        for _ in 0..<max(min(attempt, 200) - 1, 0) where wait < limit { wait *= factor }
        let share = jitter > 0 ? min(jitter, 1) : 0
        return .seconds(max(min(wait, limit), 0) * (1 - share * random))
    }
}

/// Decides from the outcome of an attempt whether its entry is sent again.
enum DeliveryRules {
    enum Verdict: Sendable, Hashable {
        /// Another attempt, not before the server's time.
        case again(WaitReason, notBefore: Duration?)
        case dead(DeadReason)
    }

    /// The verdict on a failed attempt.
    ///
    /// - Parameters:
    ///   - mayHaveArrived: whether a request of the attempt may have been executed, see ``ArrivalGuard``.
    ///   - hasAskedForOutcome: whether the error may concern the request for the outcome of one that was executed.
    ///   - isOfLogin: whether the error is that of a login, which says nothing about the entry: a later one may succeed.
    static func verdict(
        on error: NetworkError, under guarantee: DeliveryGuarantee, mayHaveArrived: Bool,
        hasAskedForOutcome: Bool = false, isOfLogin: Bool = false, at now: Date
    ) -> Verdict {
        var error = error
        if isOfLogin { error.code = .loginFailed }
        let verdict = verdict(on: error, under: guarantee, at: now)
        guard case .again(let reason, _) = verdict, guarantee == .atMostOnce, mayHaveArrived else {
            return verdict
        }
        // The server says itself that it has not executed the request.
        let isRefused = isOfLogin || error.code == .retryLater || error.code == .loginExpired
        if !hasAskedForOutcome, isRefused { return verdict }
        return .dead(.uncertain(reason))
    }

    private static func verdict(
        on error: NetworkError, under guarantee: DeliveryGuarantee, at now: Date
    ) -> Verdict {
        let failure = OutboxFailure(error)
        let again = Verdict.again(.failure(failure), notBefore: error.retryAfter(now: now))
        switch error.code {
        case .cancelled, .shutDown: return .again(.interrupted, notBefore: nil)
        // ``DeliveryPlan/fail(_:_:mayHaveArrived:at:random:)`` fills in the latest failure.
        case .keyExpired: return .dead(.keyExpired(nil))
        case .entryExpired: return .dead(.expired(nil))
        case .status: break
        // A login may succeed later.
        case .loginExpired, .loginFailed, .repetition: return again
        // The table of the client says what may help; whatever may help one day is worth another attempt.
        default: return error.code.recoveryOptions.isEmpty ? .dead(.refused(failure)) : again
        }
        let rules: KeyRules? = if case .key(_, let rules) = guarantee { rules } else { nil }
        switch error.status?.code ?? 0 {
        case 409:
            return meaning(rules?.conflict ?? .refused, error, at: now)
        case 422:
            return meaning(rules?.unprocessable ?? .refused, error, at: now)
        case 500 where rules?.repeatsServerErrors == true, 501, 505: return .dead(.refused(failure))
        case 408, 425, 429, 500..<600: return again
        case 413 where error.head?[.retryAfter] != nil: return again
        default: return .dead(.refused(failure))
        }
    }

    private static func meaning(
        _ meaning: KeyRules.Meaning, _ error: NetworkError, at now: Date
    ) -> Verdict {
        switch meaning {
        case .inProgress: .again(.inProgress, notBefore: error.retryAfter(now: now))
        case .keyReused: .dead(.keyReused(OutboxFailure(error)))
        case .refused: .dead(.refused(OutboxFailure(error)))
        }
    }

    /// Whether a request that was answered with a status was certainly not executed: it was refused (4xx), or sent
    /// elsewhere unchanged (307, 308). 409 may concern an earlier request with the key.
    static func isRefusal(_ status: Int) -> Bool {
        switch status {
        case 409: false
        case 307, 308, 400..<500: true
        default: false
        }
    }
}
#endif
