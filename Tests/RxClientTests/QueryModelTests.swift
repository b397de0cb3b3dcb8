import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Models and lists of models as the query of a request without an endpoint type.
@Suite struct QueryModelTests {
    private struct Filter: Encodable, Sendable {
        var keyword: String
        var tags: [String] = []
        var maxPrice: Decimal?
    }

    private let clock = VirtualScheduler()

    private func queries(
        _ configure: (inout ClientConfiguration) -> Void = { _ in },
        _ send: (Client) -> [Observable<Response, NetworkError>]
    ) throws -> [String?] {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        let recorders = send(Client(configuration: configuration, transport: transport))
            .map { Recorder($0, on: clock) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.failure == nil })
        return transport.requests.map { $0.url.query() }
    }

    /// A model's members are the query, with the client's encoder and style.
    @Test func models() throws {
        let filter = Filter(
            keyword: "绿茶", tags: ["a", "b"], maxPrice: Decimal(string: "12.3456789012345678901")!)
        let queries = try queries {
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            $0.parameterStyle = ParameterStyle(lists: .brackets)
        } _: { client in
            [
                client.get("/goods", query: filter),
                client.head("/goods", query: filter),
                client.request(.get("/goods", query: filter)),
                client.request(.head("/goods", query: filter)),
                client.delete("/goods", .query(filter)),
                client.post("/goods", Parameters.json(["a": 1]).query(filter)),
            ]
        }
        let query = "keyword=%E7%BB%BF%E8%8C%B6&max_price=12.3456789012345678901&tags%5B%5D=a&tags%5B%5D=b"
        #expect(queries == Array(repeating: query, count: 6))
    }

    /// A list of models sends the members of each, and a list of models is a member.
    @Test func lists() throws {
        let filters = [Filter(keyword: "tea"), Filter(keyword: "milk")]
        let queries = try queries { client in
            [
                client.get("/goods", query: filters),
                client.get("/goods", query: ["filter": filters]),
                client.get("/goods", query: ["page": 1, "keyword": "tea"]),
                client.get("/goods", query: [Filter]()),
            ]
        }
        #expect(queries[0] == "keyword=tea&keyword=milk")
        #expect(queries[1] == "filter%5Bkeyword%5D=tea&filter%5Bkeyword%5D=milk")
        #expect(queries[2] == "keyword=tea&page=1")
        #expect(queries[3] == nil)
    }

    /// A list of models is rewritten and signed as other parameters are.
    @Test func rewritten() throws {
        let filters = [Filter(keyword: "tea", tags: ["x"]), Filter(keyword: "milk")]
        let queries = try queries {
            $0.rewriteParameters = { $0.adding(["v": 1]).removing("tags") }
            $0.signature = .parameters { content in
                ["sign": content.parameters.map(\.value).joined(separator: "-")]
            }
        } _: {
            [$0.get("/goods", query: filters)]
        }
        #expect(queries == ["keyword=tea&keyword=milk&sign=milk-tea-1&v=1"])
    }

    /// A list of other values has no names.
    @Test func nameless() throws {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        let recorder = Recorder(client.get("/goods", query: [1, 2]), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .invalidParameters)
        #expect(transport.requests.isEmpty)
    }
}
