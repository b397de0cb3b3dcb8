import RxHTTP
import RxLite

/// Starts a second attempt in parallel to a slow one.
struct HedgedAttempts: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let hedging = call.prepared.options.hedging, hedging.isOn, request.isRepeatable,
            let host = next.host
        else { return next(request) }
        let budget = host.budget
        return next(request).hedge(
            hedging, host.latencies, asking: { budget?.withdraw() ?? true }, trace: call.trace)
    }
}
