import RxHTTP
import RxLite

/// Begins an attempt: directs the request to its server, signs it, and adds the session's current credential,
/// for which it may have to wait.
struct Authorization: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        .deferred(on: call.scheduler) { () throws(NetworkError) in
            let request = try call.attempt(request, at: next.server, next.host)
            guard let session = call.session, let account = call.account?.number, !request.isCredentialFree
            else { return next(request) }
            if let authorized = try session.authorized(request, for: account) {
                call.note(authorized.credentialVersion)
                return next(authorized)
            }
            return session.authorize(request, for: account).flatMap { request in
                call.note(request.credentialVersion)
                return next(request)
            }
        }
    }
}
