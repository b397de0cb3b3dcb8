import RxHTTP
import RxLite

/// Fails for a status that is no success, for other types of content than the accepted ones, and for what the envelope
/// calls a failure; takes the envelope off.
struct ResponseValidation: ResponseStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let (validation, session) = (call.validation, call.session)
        guard call.kind != .response else {
            // What follows is chained by hand.
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
