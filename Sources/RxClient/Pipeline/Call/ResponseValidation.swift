import RxHTTP
import RxLite

/// Fails for an unsuccessful status, for a content type that is not accepted, and for a failure in the
/// envelope; otherwise removes the envelope.
struct ResponseValidation: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let (validation, session) = (call.validation, call.session)
        guard call.kind != .response else {
            // For this kind of call, the user chains the validation by hand.
            return next(request).processResponse { response throws(NetworkError) in
                try response.checkStatus(validation.envelope)
                return .response(response)
            }
        }
        return next(request).processResponse { response throws(NetworkError) in
            let validated = try validation.validate(response)
            session?.noteSuccess(of: validated.request.credentialVersion)
            return .response(validated)
        }
    }
}
