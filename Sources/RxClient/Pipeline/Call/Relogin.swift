import RxHTTP
import RxLite

/// Lets the session log in again when the server says that the login has expired, and sends the request once
/// more. `SessionState` has the rules.
struct Relogin: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).relogin(through: call.session, replay: call.replay, trace: call.trace)
    }
}
