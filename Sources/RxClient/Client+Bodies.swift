import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters

// Overloads that do not compile, so that the compiler names the right call: GET and HEAD take their
// parameters as `query`, and a model is sent as JSON, as a form or in the query.

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

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public func post(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.post, path, at: pathValues, .standard(model)))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public func put(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.put, path, at: pathValues, .standard(model)))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public func patch(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.patch, path, at: pathValues, .standard(model)))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public func delete(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.delete, path, at: pathValues, .standard(model)))
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

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public static func post(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> InlineEndpoint {
        InlineEndpoint(.post, path, at: pathValues, .standard(model))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public static func put(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> InlineEndpoint {
        InlineEndpoint(.put, path, at: pathValues, .standard(model))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public static func patch(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> InlineEndpoint {
        InlineEndpoint(.patch, path, at: pathValues, .standard(model))
    }

    /// Unavailable: say how the model is sent, such as `.json(model)`.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
    )
    public static func delete(
        _ path: String, at pathValues: PathValues = [:], _ model: some Encodable & Sendable
    ) -> InlineEndpoint {
        InlineEndpoint(.delete, path, at: pathValues, .standard(model))
    }
}
