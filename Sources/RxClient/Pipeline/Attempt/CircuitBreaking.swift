import RxHTTP
import RxLite

/// Fails at once while the host's circuit is open; the outcome of each attempt counts.
struct CircuitBreaking: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let breaker = next.host?.breaker else { return next(request) }
        return next(request).guarded(by: breaker) { call.attributed($0) }
    }
}
