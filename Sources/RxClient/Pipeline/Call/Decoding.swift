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
            var response = response
            if !part.isEmpty { response.payloadPath += part }
            let output = try decode(response)
            call.cached?.keepNoted()
            return .output(output)
        }
    }
}
