public import HTTPTypes
public import RxHTTP
public import RxParameters

/// One operation of a service, as a type: its path, its parameters, its output.
///
/// ```swift
/// struct GoodsList: Endpoint {
///     typealias Output = [Goods]
///     let keyword: String
///     let path = "/mall/goods"
///     var parameters: Parameters { .query(["keyword": keyword]) }
/// }
///
/// client.request(GoodsList(keyword: "tea")).subscribe(onNext: { goods in show(goods) })
/// ```
///
/// Only path and output are required.
public protocol Endpoint<Output>: Sendable {
    // ``EndpointWithOptions`` passes on every requirement; a new one must be added there.

    /// The type of a successful result: a `Decodable` type, `Response` or `Void`; any other type needs its own
    /// ``output(from:)``.
    associatedtype Output: Sendable

    /// The path below the client's base URL, or an absolute URL of the same origin. A placeholder such as
    /// `{id}` stands for a value of ``pathValues``, and `{key...}` for one with slashes, such as an object's key.
    var path: String { get }
    /// The values of the path's placeholders: one segment each, or any number for `{key...}`. Default: empty.
    var pathValues: PathValues { get }
    /// The method. Default GET.
    var method: HTTPRequest.Method { get }
    /// The parameters. Default: none.
    var parameters: Parameters { get }
    /// The options of the endpoint's requests and responses. Default: the client's options.
    var options: RequestOptions { get }

    /// Rewrites the parameters before the client does. Default: no change. Useful for families of endpoints
    /// that share a rule through a protocol.
    func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters

    /// Makes the output from a successful response. Default: decodes JSON.
    func output(from response: Response) throws(NetworkError) -> Output

    /// Throws if the content of a successful response is unusable: `noContent`, or an error code of the app.
    /// Default: accepts all content. An error without request, head and body receives those of the response.
    ///
    /// ```swift
    /// func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
    ///     if response.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    /// }
    /// ```
    func validate(_ response: TypedResponse<Output>) throws(NetworkError)
}

extension Endpoint {
    /// No placeholder values.
    public var pathValues: PathValues { [:] }
    /// The GET method.
    public var method: HTTPRequest.Method { .get }
    /// No parameters.
    public var parameters: Parameters { .none }
    /// All options follow the client's.
    public var options: RequestOptions { RequestOptions() }

    /// The unchanged parameters.
    public func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters { parameters }

    /// Accepts all content.
    public func validate(_ response: TypedResponse<Output>) throws(NetworkError) {}
}

extension Endpoint where Output: Decodable {
    /// The content, decoded from JSON.
    public func output(from response: Response) throws(NetworkError) -> Output {
        try response.decode(Output.self)
    }
}

extension Endpoint where Output == Response {
    /// The unchanged response.
    public func output(from response: Response) throws(NetworkError) -> Output { response }
}

extension Endpoint where Output == Void {
    /// An empty value; the body does not matter.
    public func output(from _: Response) throws(NetworkError) -> Output { () }
}

extension Endpoint {
    /// The endpoint with other options for one call: to skip the cache, hide a load, tag it, or allow it more time.
    ///
    /// ```swift
    /// client.request(GoodsList(keyword: "tea").with { $0.cacheMode = .reload })
    /// ```
    ///
    /// The result works wherever an endpoint does: in requests, lists of pages, downloads, streams and event sources.
    /// Its requests share no response with equal requests (``Response/CacheUse/joined``) if its options contain a retry
    /// policy, an envelope or interceptors of attempts and exchanges, which cannot be compared.
    ///
    /// - Parameter change: changes the endpoint's options. Called for each request.
    public func with(
        _ change: @escaping @Sendable (inout RequestOptions) -> Void
    ) -> some Endpoint<Output> {
        EndpointWithOptions(base: self, change: change)
    }
}

/// An endpoint with other options: ``Endpoint/with(_:)``.
struct EndpointWithOptions<Base: Endpoint>: Endpoint {
    // Passes on every requirement of the protocol. Most have a default, so the compiler reports none that is missing.

    typealias Output = Base.Output

    let base: Base
    let change: @Sendable (inout RequestOptions) -> Void

    var path: String { base.path }
    var pathValues: PathValues { base.pathValues }
    var method: HTTPRequest.Method { base.method }
    var parameters: Parameters { base.parameters }
    var options: RequestOptions {
        var options = base.options
        change(&options)
        return options
    }

    func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters { try base.rewrite(parameters) }

    func output(from response: Response) throws(NetworkError) -> Base.Output {
        try base.output(from: response)
    }

    func validate(_ response: TypedResponse<Base.Output>) throws(NetworkError) {
        try base.validate(response)
    }
}

extension EndpointWithOptions: RedactedDescription {
    var description: String { "\(base)" }
}

extension Endpoint {
    /// Whether the endpoint's requests may be sent twice, by their method (RFC 9110 §9.2.2),
    /// ``RequestOptions/isIdempotent`` or an `Idempotency-Key`, and have a replayable body. It has the rules of
    /// `Request.isRepeatable`, and looks at the endpoint's own options only.
    public var isRepeatable: Bool {
        switch method {
        case .get, .head, .options, .trace, .put, .delete: parameters.isReplayable
        default: (options.isIdempotent == true || hasKey) && parameters.isReplayable
        }
    }

    private var hasKey: Bool {
        options.headers[HTTPField.Name.idempotencyKey.rawName] != nil
    }
}
