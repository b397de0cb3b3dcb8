import RxHTTP
import RxLite

/// Falls back to a stored response if the server is unreachable or fails, and the `stale-if-error` of that
/// response allows it (RFC 5861 §4).
struct StaleIfError: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard call.mayCache else { return next(request) }
        return next(request).catch { error in
            guard error.isServerFailure, let stored = call.cached?.fallingBack(call.trace) else {
                return .fail(error)
            }
            return stored.validated(by: call.validation).map { .response($0) }
        }
    }
}
