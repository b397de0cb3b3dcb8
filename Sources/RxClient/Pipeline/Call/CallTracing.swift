import RxHTTP
import RxLite

/// Tells ``Client/traffic`` the start and the end of the call.
struct CallTracing: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).traced(by: call.trace, isWhole: call.kind.isWhole)
    }
}
