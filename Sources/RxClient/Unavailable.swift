public import HTTPTypes
public import RxCache
public import RxHTTP
public import RxLite
public import RxParameters

// Calls in the manner of other libraries, for which the compiler names the right ones. It refuses every call, so that
// the bodies only need the right type. `MistakeTests` compares the messages.

extension Client {
    /// Unavailable: a request by its path is a call of its method.
    @available(
        *, unavailable,
        message:
            "write 'client.get(path, query: …)', 'client.post(path, .json(…))' …; 'request' takes an endpoint"
    )
    public func request(
        _ path: String, method: HTTPRequest.Method = .get, parameters: Parameters = .none,
        headers: Headers = [:]
    ) -> Observable<Response, NetworkError> {
        .never()
    }

    /// Unavailable: use ``Endpoint/with(_:)``.
    @available(
        *, unavailable,
        message: "the options of an endpoint are changed by 'endpoint.with { $0.cacheMode = .reload }'"
    )
    public func request<E: Endpoint>(
        _ endpoint: E, options: RequestOptions
    ) -> Observable<E.Output, NetworkError> {
        .never()
    }

    /// Unavailable: a file is the body of a request.
    @available(
        *, unavailable,
        message:
            "a file is a body: 'client.post(path, .file(file))', or 'client.progress(of:)' for its progress"
    )
    public func upload(_ file: some Any, to path: String) -> Observable<Response, NetworkError> { .never() }

    /// Unavailable: a download takes an endpoint.
    @available(*, unavailable, message: "write 'client.download(.get(path), to: file)'")
    public func download(_ path: String, to file: String) -> Observable<DownloadEvent, NetworkError> {
        .never()
    }
}

extension Observable where Element == Response, Failure == NetworkError {
    /// Unavailable: other statuses than 2xx are errors in any case.
    @available(*, unavailable, message: "delete the call: a status other than 2xx is an error in any case")
    public func validate() -> Observable { self }

    /// Unavailable: use ``decode(_:)``.
    @available(*, unavailable, message: "write 'decode(Model.self).subscribe(onNext:onFailure:)'")
    public func responseDecodable<T: Decodable & Sendable>(
        of type: T.Type, completionHandler: @escaping @Sendable (Result<T, NetworkError>) -> Void
    ) {}

    /// Unavailable: use ``decode(_:)``.
    @available(*, unavailable, message: "write 'try await decode(Model.self).value()'")
    public func serializingDecodable<T: Decodable & Sendable>(
        _ type: T.Type
    ) -> Observable<T, NetworkError> {
        .never()
    }
}

extension ClientConfiguration {
    /// Unavailable: use ``RequestOptions/headers`` of ``options``.
    @available(*, unavailable, renamed: "options.headers")
    public var headers: Headers {
        get { options.headers }
        set { options.headers = newValue }
    }

    /// Unavailable: use ``RequestOptions/timeouts`` of ``options``.
    @available(*, unavailable, renamed: "options.timeouts")
    public var timeouts: Timeouts? {
        get { options.timeouts }
        set { options.timeouts = newValue }
    }

    /// Unavailable: use ``RequestOptions/retry`` of ``options``.
    @available(*, unavailable, renamed: "options.retry")
    public var retry: RetryPolicy<NetworkError>? {
        get { options.retry }
        set { options.retry = newValue }
    }

    /// Unavailable: use ``RequestOptions/envelope`` of ``options``.
    @available(*, unavailable, renamed: "options.envelope")
    public var envelope: Envelope? {
        get { options.envelope }
        set { options.envelope = newValue }
    }

    /// Unavailable: use ``RequestOptions/cachePolicy`` of ``options``.
    @available(*, unavailable, renamed: "options.cachePolicy")
    public var cachePolicy: CachePolicy? {
        get { options.cachePolicy }
        set { options.cachePolicy = newValue }
    }
}

extension RequestOptions {
    /// Unavailable: use ``timeouts``.
    @available(*, unavailable, message: "write 'RequestOptions(timeouts: Timeouts(total: .seconds(30)))'")
    public init(timeout: Duration) { self.init(timeouts: Timeouts(total: timeout)) }
}

// MARK: - Bodies

// Overloads that do not compile, so that the compiler names the right call: GET and HEAD take their parameters as
// `query`, and a model is sent as JSON, as a form or in the query. `MistakeTests` compares the messages.

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
