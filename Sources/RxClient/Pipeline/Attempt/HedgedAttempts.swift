import RxHTTP
import RxLite

/// Starts a second attempt in parallel to one that has been with the server for long.
struct HedgedAttempts: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let hedging = call.prepared.options.hedging, hedging.isOn, request.isRepeatable,
            let host = next.host
        else { return next(request) }
        let budget = host.budget
        return .hedged(
            by: hedging, host.latencies, on: call.scheduler, asking: { budget?.withdraw() ?? true },
            trace: call.trace
        ) { onSend in next.reportingSends(to: onSend)(request) }
    }
}
