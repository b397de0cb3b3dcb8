public import HTTPTypes
public import RxHTTP

/// One operation of a server, as a type: its path, its parameters, its output.
///
/// ```swift
/// struct GoodsList: Endpoint {
///     typealias Output = [Goods]
///     let keyword: String
///     let path = "/mall/goods"
///     var parameters: Parameters { .query(["keyword": keyword]) }
/// }
///
/// client.request(GoodsList(keyword: "tea")).subscribe(onNext: { goods in … })
/// ```
///
/// Only path and output must be given.
public protocol Endpoint<Output>: Sendable {
    /// The type of a successful result: a `Decodable` type, `Response` or `Void`.
    associatedtype Output: Sendable

    /// The path below the client's base URL, or an absolute URL of the same origin. A placeholder such as `{id}`
    /// stands for one of ``pathValues``.
    var path: String { get }
    /// The values of the path's placeholders, one segment each. Default none.
    var pathValues: PathValues { get }
    /// The method. Default GET.
    var method: HTTPRequest.Method { get }
    /// The parameters. Default none.
    var parameters: Parameters { get }
    /// How requests are sent and responses treated. Default: as the client has it.
    var options: RequestOptions { get }

    /// Rewrites the parameters, before the client does. Default: no change. For families of endpoints that share a rule
    /// through a protocol.
    func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters

    /// Makes the output of a successful response. Default: decodes JSON.
    func output(from response: Response) throws(NetworkError) -> Output

    /// Throws if a successful response has content of no use: `noContent`, or an error code of the app. Default: never.
    /// An error without request, head and body gets those of the response.
    ///
    /// ```swift
    /// func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
    ///     if response.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    /// }
    /// ```
    func validate(_ response: TypedResponse<Output>) throws(NetworkError)
}

extension Endpoint {
    /// None.
    public var pathValues: PathValues { [:] }
    /// GET.
    public var method: HTTPRequest.Method { .get }
    /// None.
    public var parameters: Parameters { .none }
    /// As the client has it.
    public var options: RequestOptions { RequestOptions() }

    /// The unchanged parameters.
    public func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters { parameters }

    /// All content is of use.
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
    /// Nothing; the body does not matter.
    public func output(from _: Response) throws(NetworkError) -> Output { () }
}
