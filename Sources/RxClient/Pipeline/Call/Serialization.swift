import RxHTTP
import RxLite

/// Proceeds with the serialized request, or fails if serialization failed.
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
