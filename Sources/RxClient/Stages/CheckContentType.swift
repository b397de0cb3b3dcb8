import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `contentType` unless the answer is of one of these types. The error keeps the body.
    public func checkContentType(_ types: ContentTypes) -> Observable<Response, NetworkError> {
        guard types != .any else { return self }
        return map { response throws(NetworkError) in
            guard !response.body.isEmpty, !types.accepts(response.head) else { return response }
            let type = MediaType(response.head[.contentType]).name
            throw NetworkError(
                .contentType, "the content is \(type), accepted is \(types)", request: response.request
            )
            .concerning(response)
        }
    }
}

extension NetworkError {
    /// The same, with what it leaves open taken from an answer.
    func concerning(_ response: Response) -> NetworkError {
        var error = requestID == nil ? attributed(to: response.request) : self
        error.head = error.head ?? response.head
        if error.body.isEmpty { error.body = response.body }
        return error
    }
}
