import RxHTTP
import RxLite

/// Fails with `totalTimeout` when the time limit of all attempts has passed.
struct Deadline: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let limit = request.timeouts.total else { return next(request) }
        call.limit(to: limit)
        return next(request).timeout(limit, on: call.scheduler) {
            let error = call.attributed(
                NetworkError(.totalTimeout, "total timeout: no response within \(limit)"))
            call.trace?.noteFailure(error)
            return error
        }
    }
}
