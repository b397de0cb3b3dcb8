#if Outbox
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// Watches the exchanges of one attempt: whether a request may have been executed, and that none follows it that must not
/// be sent any more. The client may make several exchanges, by retries, redirects, relogins or failover, and may wait
/// before each of them.
final class ArrivalGuard: Interceptor {
    /// The conditions under which an exchange may begin.
    struct Limits: Sendable {
        /// Whether a request that may have been executed must not be followed by another one.
        var isSingle = false
        /// Whether the request itself executes nothing.
        var isSafe = false
        /// Whether the request carries the credential of a session, so that a login may precede it.
        var usesSession = false
        /// How long after the first request that may have arrived another one is safe; `nil` for ever.
        var safeTime: Duration?
        /// When a request of a former attempt may have arrived first; `nil` if certainly none has.
        var mayHaveArrivedSince: Date?
        /// When the entry expires.
        var expires: Date?
    }

    private struct Record {
        /// The number of exchanges, running or ended, that may have been executed.
        var possibleArrivals = 0
        /// When the first of them began.
        var mayHaveArrivedSince: Date?
        /// The status of the response to the latest exchange, if it has one.
        var status: Int?
        /// Whether the server was asked for the outcome of a request that it has executed.
        var hasAskedForOutcome = false
        /// The credential of the latest request that was answered with success, unless its login turns out to have expired.
        var answered: CredentialVersion?
    }

    private let limits: Limits
    private let currentDate: @Sendable () -> Date
    private let record = Mutex(Record())

    /// - Parameters:
    ///   - limits: what must hold when an exchange begins.
    ///   - currentDate: the date of the outbox.
    init(_ limits: Limits, currentDate: @escaping @Sendable () -> Date) {
        self.limits = limits
        self.currentDate = currentDate
    }

    /// Whether a request may have been executed.
    var mayHaveArrived: Bool { record.withLock { $0.possibleArrivals > 0 } }

    /// Whether the last answers may concern another request than the entry's own: that for its outcome.
    var hasAskedForOutcome: Bool { record.withLock { $0.hasAskedForOutcome } }

    /// Whether the failure of the attempt is that of a login: a refused one, or the response to a request that is not the
    /// entry's own, none of which has been executed.
    func isOfLogin(_ error: NetworkError) -> Bool {
        switch error.code {
        case .cancelled, .shutDown, .keyExpired, .entryExpired, .repetition: return false
        default: break
        }
        guard limits.usesSession else { return false }
        if error.refusedLogin != nil { return true }
        return record.withLock { record in
            // A redirect that is not followed fails without a status.
            if let status = record.status, 300..<400 ~= status { return false }
            return record.possibleArrivals == 0 && (error.status != nil || record.status != nil)
                && error.status?.code != record.status
        }
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let now = currentDate()
        // The target of a 303 is asked for the outcome; that executes nothing.
        let isSafe = request.method == .get || request.method == .head
        let refusal: (NetworkError.Code, String)? = record.withLock { record in
            if !isSafe, let refusal = self.refusal(of: request, &record, at: now) { return refusal }
            if isSafe, !limits.isSafe { record.hasAskedForOutcome = true }
            record.possibleArrivals += 1
            record.status = nil
            record.mayHaveArrivedSince = record.mayHaveArrivedSince ?? now
            return nil
        }
        if let (code, message) = refusal {
            return .fail(NetworkError(code, message, request: request))
        }
        return next(request).handleEvents(
            onNext: { event in
                // Once for each exchange: an informational response is another event.
                guard let status = event.head?.status else { return }
                self.record.withLock { $0.status = status.code }
                if DeliveryRules.isRefusal(status.code) { self.clear() }
                if !isSafe, status.kind == .successful {
                    self.record.withLock { $0.answered = request.credentialVersion }
                }
            },
            onEnd: { completion in
                // A response that has begun was sent for.
                if case .failed(let error) = completion, error.isUnsent { self.clear() }
            })
    }

    /// Why a request must not be sent; `nil` if it may be.
    private func refusal(
        of request: Request, _ record: inout Record, at now: Date
    ) -> (NetworkError.Code, String)? {
        if limits.isSingle, record.possibleArrivals > 0 {
            // After a success only a relogin sends again, with another credential: the server has said in its envelope
            // that the login had expired, so it has not executed the request.
            guard record.possibleArrivals == 1, let answered = record.answered,
                let credential = request.credentialVersion, credential != answered
            else { return (.repetition, "the request may have been executed, and must not be sent twice") }
            record.possibleArrivals = 0
            record.answered = nil
        }
        if let expires = limits.expires, now >= expires {
            return (.entryExpired, "the time of the entry is over")
        }
        guard let safeTime = limits.safeTime,
            let since = limits.mayHaveArrivedSince ?? record.mayHaveArrivedSince,
            now >= since + safeTime
        else { return nil }
        return (.keyExpired, "the server may have forgotten the key")
    }

    private func clear() {
        record.withLock { record in
            record.possibleArrivals -= 1
            if record.possibleArrivals == 0 { record.mayHaveArrivedSince = nil }
        }
    }
}

extension Endpoint {
    /// The endpoint as an outbox sends it.
    func guarded(by guarantee: DeliveryGuarantee, _ arrivals: ArrivalGuard) -> some Endpoint<Output> {
        with { options in
            // The last one is the innermost: it sees each exchange, and none that another interceptor answers.
            options.interceptors.exchange.append(arrivals)
            // Nobody waits in front of a screen.
            if options.presentation == nil { options.presentation = [] }
            switch guarantee {
            case .key(let key, let rules):
                options.headers[rules.field] = rules.value(for: key)
                options.isIdempotent = true
            case .atLeastOnce: break
            case .atMostOnce:
                // The guard would refuse a repetition. The outbox decides whether to try again.
                options.retry = .never
                options.hedging = .never
            }
        }
    }
}

extension NetworkError.Code {
    /// An interceptor or a stage of the client would send a request again that must be sent at most once.
    static let repetition = NetworkError.Code(rawValue: "repetition")
    /// The client would send a request after the life of its key.
    static let keyExpired = NetworkError.Code(rawValue: "keyExpired")
    /// The client would send a request after the time of its entry.
    static let entryExpired = NetworkError.Code(rawValue: "entryExpired")
}
#endif
