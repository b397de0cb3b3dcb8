import RxHTTP
import RxLite

/// Retries after failures, by the call's ``RequestOptions/retry``. ``CallContext`` decides.
struct Retrying: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).retry(
            RetryPolicy(weighing: { call.decide($0, $1) }, stamp: call.retryPolicy.stamp), on: call.scheduler)
    }
}
