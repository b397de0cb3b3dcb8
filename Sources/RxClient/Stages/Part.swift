public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Makes a part of the content the content: what `path` leads to from there.
    ///
    /// ```swift
    /// client.get("/goods").unwrap(envelope).part("page.count").decode(Int.self)
    /// ```
    ///
    /// Nothing is looked up before the content is decoded; a part that is not there counts as a missing payload then.
    public func part(_ path: PayloadPath) -> Observable<Response, NetworkError> {
        guard !path.keys.isEmpty else { return self }
        return map { response in
            var response = response
            response.payloadPath += path.keys
            return response
        }
    }
}
