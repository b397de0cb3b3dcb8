import RxHTTP
import RxLite

/// Makes the endpoint's output from the response, and stores the response if that succeeds.
struct Decoding: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let decode = call.settings.decode else { return next(request) }
        let part = call.prepared.options.part?.keys ?? []
        return next(request).processResponse { response throws(NetworkError) in
            let output = try decode(part.isEmpty ? response : response.at(part))
            call.cached?.keepNoted()
            call.trace?.tellOutput()
            return .output(output)
        }
    }
}

extension Response {
    /// The response with its content at `part`, relative to the former place.
    fileprivate func at(_ part: [String]) -> Response {
        var response = self
        response.payloadPath += part
        return response
    }
}
