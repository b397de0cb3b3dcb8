import RxHTTP
import RxLite

/// Fails at once while there is no network.
struct ReachabilityCheck: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).checkReachability(by: call.client.configuration.reachability, of: request)
    }
}
