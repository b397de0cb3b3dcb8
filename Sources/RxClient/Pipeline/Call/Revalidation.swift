import RxHTTP
import RxLite

/// Asks the server to revalidate a stored response instead of sending it again (RFC 9111 §4.3).
struct Revalidation: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let cached = call.cached else { return next(request) }
        return cached.confirm(cached.confirmable, trace: call.trace) { prepare in
            .deferred(on: call.scheduler) {
                var request = request
                prepare(&request)
                return next(request).responses(of: call)
            }
        }
        .map { .response($0) }
    }
}
