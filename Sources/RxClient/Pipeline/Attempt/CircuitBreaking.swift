import RxHTTP
import RxLite

/// Fails at once while the host's circuit is open; counts the outcome of each attempt.
struct CircuitBreaking: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let breaker = next.host?.breaker else { return next(request) }
        // The connection of an event source always ends at some point, which is not a failure of the host.
        return .guarded(
            by: breaker, on: call.scheduler,
            settlesWithHead: call.kind == .events || call.kind == .webSocket,
            isOverdue: { call.isOverdue }, attributing: { call.attributed($0) }
        ) { onSend in next.reportingSends(to: onSend)(request) }
    }
}
