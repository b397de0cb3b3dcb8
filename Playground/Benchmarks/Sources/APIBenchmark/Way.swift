import Foundation
import HTTPCases
import RxMetrics
import RxNetworking
import RxTracing

/// A way to get the ten items of `URL/goods`, which come in an envelope. All ways send the same header fields.
enum Way: String, CaseIterable, Sendable {
    /// The transport alone; the response is collected and decoded together with the envelope.
    case bare
    /// The same with Foundation's `JSONDecoder`: the cost without the framework's decoder.
    case foundation
    /// The same through a client with the default configuration.
    case client
    /// Through a client with a session, retries, an envelope, a header and an accessory, without a listener
    /// of its log.
    case full
    /// The same with an interceptor at each of the three positions.
    case intercepted
    /// The way `full`, with its metrics recorded.
    case metrics
    /// The way `full`, with its calls traced.
    case tracing
    /// The way `full`, with an inspector and a front end that reads. Only in a process of its own, since an inspector
    /// watches the streams of the whole process.
    case inspected
    /// The same with each request shown, whatever their rate.
    case shown

    var isInspected: Bool { self == .inspected || self == .shown }

    /// The ways that can be compared in one process.
    static let shared = allCases.filter { !$0.isInspected }

    private static let accept = "application/json"
    private static let token = "a token of usual length"

    /// The response with its envelope, for ways in which the client does not unwrap it.
    private struct Enveloped: Decodable, Sendable {
        let errcode: Int
        let msg: String
        let data: [Item]
    }

    /// The endpoint, with a query parameter as is typical.
    private struct Goods<Content: Decodable & Sendable>: Endpoint {
        typealias Output = Content
        let path = "/goods"
        let method = HTTPRequest.Method.get
        var parameters: Parameters { .query(["keyword": "tea"]) }
    }

    /// The stream that sends a request for each subscription and delivers the number of items received.
    func items(of baseURL: String, over transport: CurlTransport) async throws -> Observable<
        Int, NetworkError
    > {
        switch self {
        case .bare:
            return try responses(of: baseURL, over: transport).decode(Enveloped.self).map(\.data.count)
        case .foundation:
            let decoder = JSONDecoder()
            return try responses(of: baseURL, over: transport).map { response throws(NetworkError) in
                do {
                    return try decoder.decode(Enveloped.self, from: Data(response.body)).data.count
                } catch {
                    throw NetworkError(.decoding, "\(error)", request: response.request)
                }
            }
        case .client:
            var configuration = ClientConfiguration(baseURL: baseURL)
            configuration.options.headers = ["Accept": Self.accept, "Authorization": "Bearer \(Self.token)"]
            let client = Client(configuration: configuration, transport: transport)
            return client.request(Goods<Enveloped>()).map(\.data.count)
        case .full, .intercepted, .metrics, .tracing, .inspected, .shown:
            var configuration = ClientConfiguration()
            configuration.options.headers = ["Accept": Self.accept]
            configuration.options.envelope = Envelope(
                code: "errcode", message: "msg", payload: "data", success: 200)
            configuration.session = Session(credential: Credential(token: Self.token)) {
                .never()
            }
            configuration.options.accessories = [Accessory(didStop: { _, _ in })]
            configuration.options.retry = .exponentialBackoff(maxRetries: 2)
            if self == .intercepted {
                configuration.options.interceptors = Interceptors(
                    call: [.idempotencyKeys()], attempt: [Language()], exchange: [HeadCount()])
            }
            let client = Client(baseURL: baseURL, configuration: configuration, transport: transport)
            if self == .metrics { client.recordMetrics(in: CountingFactory()) }
            if self == .tracing { client.traceCalls(with: CountingTracer()) }
            if isInspected { try await inspect(client, showsAll: self == .shown) }
            return client.request(Goods<[Item]>()).map(\.count)
        }
    }

    private func responses(
        of baseURL: String, over transport: CurlTransport
    ) throws -> Observable<Response, NetworkError> {
        guard let url = URL(string: baseURL + "/goods?keyword=tea") else {
            throw Arguments.Invalid(description: "no URL: \(baseURL)")
        }
        let fields: HTTPFields = [
            .userAgent: ClientConfiguration().userAgent ?? "", .accept: Self.accept,
            .authorization: "Bearer \(Self.token)",
        ]
        return .deferred {
            let request = Request(url: url, headerFields: fields)
            return transport.send(request).response(to: request)
        }
    }
}

/// Changes the request.
private struct Language: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        var request = request
        request.headerFields[.acceptLanguage] = "zh-Hans"
        return next(request)
    }
}

/// Checks the response.
private struct HeadCount: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).map { event throws(NetworkError) in
            if let head = event.head, head.status.code >= 500 {
                throw NetworkError(.invalidResponse, "no server error is expected", request: request)
            }
            return event
        }
    }
}
