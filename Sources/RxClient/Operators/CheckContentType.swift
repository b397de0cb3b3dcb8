import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `contentType` unless the response has one of these types. The error keeps the body.
    public func checkContentType(_ types: ContentTypes) -> Observable<Response, NetworkError> {
        guard types != .any else { return self }
        return map { response throws(NetworkError) in
            try response.checkContentType(types)
            var checked = response
            checked.decodableTypes = nil
            return checked
        }
    }
}

extension Response {
    func checkContentType(_ types: ContentTypes) throws(NetworkError) {
        guard !body.isEmpty, !types.accepts(head) else { return }
        let type = MediaType(head[.contentType]).name
        throw NetworkError(
            .contentType, "the content type is \(type); accepted: \(types)", request: request
        )
        .concerning(self)
    }
}

extension NetworkError {
    /// The same error, with missing details taken from a response.
    func concerning(_ response: Response) -> NetworkError {
        var error = requestID == nil ? attributed(to: response.request) : self
        error.head = error.head ?? response.head
        if error.body.isEmpty { error.body = response.body }
        return error
    }
}
