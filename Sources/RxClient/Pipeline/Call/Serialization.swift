import RxHTTP
import RxLite

/// Goes on with the request that the endpoint's parameters make, or fails where they make none.
struct Serialization: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        switch call.request {
        case .success(let request): next(request)
        case .failure(let error): .fail(error)
        }
    }
}
