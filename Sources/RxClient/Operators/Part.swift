public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Replaces the content by a part of it, at `path`.
    ///
    /// ```swift
    /// client.get("/goods").unwrap(envelope).part("page.count").decode(Int.self)
    /// ```
    ///
    /// The part is looked up when the content is decoded; a missing part counts as a missing payload.
    public func part(_ path: PayloadPath) -> Observable<Response, NetworkError> {
        guard !path.keys.isEmpty else { return self }
        return map { response in
            var response = response
            response.payloadPath += path.keys
            return response
        }
    }
}
