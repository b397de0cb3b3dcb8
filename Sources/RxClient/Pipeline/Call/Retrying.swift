import RxHTTP
import RxLite

/// Retries after failures, by the call's ``RequestOptions/retry``. ``CallContext`` decides.
struct Retrying: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let policy = call.prepared.options.retry ?? .exponentialBackoff()
        return next(request).retry(
            RetryPolicy({ error, history in call.decide(error, history, by: policy) }, stamp: policy.stamp),
            on: call.scheduler)
    }
}
