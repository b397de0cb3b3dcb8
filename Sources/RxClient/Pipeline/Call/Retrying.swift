import RxHTTP
import RxLite

/// Retries after failures, by the call's ``RequestOptions/retry``. ``CallContext`` decides.
struct Retrying: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).retry(
            RetryPolicy(
                weighing: { error, history in
                    let verdict = call.decide(error, history)
                    if verdict.decision != .stop { call.cached?.noteRetry() }
                    return verdict
                }, stamp: { call.retryPolicy.stamp(&$0, call.including(sharedRetriesIn: $1)) }),
            on: call.scheduler)
    }
}
