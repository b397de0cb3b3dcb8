import RxHTTP
import RxLite

/// Fails at once while the host's circuit is open; the outcome of each attempt counts.
struct CircuitBreaking: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let breaker = next.host?.breaker else { return next(request) }
        // A connection of an event source ends some time, and that is no fault of the host's.
        return next(request).guarded(by: breaker, settlesWithHead: call.kind == .events) {
            call.attributed($0)
        }
    }
}
