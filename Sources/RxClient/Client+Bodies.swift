import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters

// Overloads that do not compile, so that the compiler names the right call: GET and HEAD take their
// parameters as `query`.

extension Client {
    /// Unavailable: a GET has no body. Pass its parameters as `query`.
    @available(
        *, unavailable, renamed: "get(_:query:)",
        message: "a GET has no body: pass the parameters as 'query:'"
    )
    public func get(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.get, path, at: pathValues, parameters))
    }

    /// Unavailable: a HEAD has no body. Pass its parameters as `query`.
    @available(
        *, unavailable, renamed: "head(_:query:)",
        message: "a HEAD has no body: pass the parameters as 'query:'"
    )
    public func head(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.head, path, at: pathValues, parameters))
    }
}

extension Endpoint where Self == InlineEndpoint {
    /// Unavailable: a GET has no body. Pass its parameters as `query`.
    @available(
        *, unavailable, renamed: "get(_:query:)",
        message: "a GET has no body: pass the parameters as 'query:'"
    )
    public static func get(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters
    ) -> InlineEndpoint {
        InlineEndpoint(.get, path, at: pathValues, parameters)
    }

    /// Unavailable: a HEAD has no body. Pass its parameters as `query`.
    @available(
        *, unavailable, renamed: "head(_:query:)",
        message: "a HEAD has no body: pass the parameters as 'query:'"
    )
    public static func head(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters
    ) -> InlineEndpoint {
        InlineEndpoint(.head, path, at: pathValues, parameters)
    }
}
