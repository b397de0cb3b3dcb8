import RxHTTP
import RxLite

/// Has the session log in again when the server says that the login has expired, and proceeds once more. The rules are
/// in `SessionState`.
struct Relogin: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).relogin(through: call.session, replay: call.replay, trace: call.trace)
    }
}
