import RxHTTP
import RxLite

/// Reports the start and the end of the call to ``Client/traffic``.
struct CallTracing: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).traced(by: call.trace, isWhole: call.kind.isWhole)
    }
}
