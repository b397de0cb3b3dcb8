#if Outbox
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// Watches the exchanges of one attempt: whether a request may have been executed, and that none follows it if it must
/// not be sent twice. The client may make several exchanges, by retries, redirects, relogins or failover.
final class ArrivalGuard: Interceptor {
    private let isSingle: Bool
    /// The number of exchanges, running or ended, that may have been executed.
    private let uncertainCount = Mutex(0)

    init(isSingle: Bool) { self.isSingle = isSingle }

    /// Whether a request may have been executed.
    var mayHaveArrived: Bool { uncertainCount.withLock { $0 > 0 } }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        // The target of a 303 is asked for the outcome; that executes nothing.
        let isSafe = request.method == .get || request.method == .head
        let isAllowed = uncertainCount.withLock { count in
            guard !isSingle || isSafe || count == 0 else { return false }
            count += 1
            return true
        }
        guard isAllowed else {
            return .fail(
                NetworkError(
                    .repetition, "the request may have been executed, and must not be sent twice",
                    request: request))
        }
        return next(request).handleEvents(
            onNext: { event in
                // Once for each exchange: an informational response is another event.
                if let status = event.head?.status, DeliveryRules.isRefusal(status.code) { self.clear() }
            },
            onEnd: { completion in
                // A response that has begun was sent for.
                if case .failed(let error) = completion, error.isUnsent { self.clear() }
            })
    }

    private func clear() { uncertainCount.withLock { $0 -= 1 } }
}

extension Endpoint {
    /// The endpoint as an outbox sends it.
    func guarded(by guarantee: DeliveryGuarantee, _ arrivals: ArrivalGuard) -> EndpointWithOptions<Self> {
        with { options in
            options.interceptors.exchange.append(arrivals)
            // Nobody waits in front of a screen.
            if options.presentation == nil { options.presentation = [] }
            switch guarantee {
            case .key(let key, let rules):
                options.headers[rules.field] = rules.value(for: key)
                options.isIdempotent = true
            case .atLeastOnce: break
            case .atMostOnce:
                options.retry = .never
                options.hedging = .never
            }
        }
    }
}

extension NetworkError.Code {
    /// An interceptor or a stage of the client would send a request again that must be sent at most once.
    static let repetition = NetworkError.Code(rawValue: "repetition")
}
#endif
