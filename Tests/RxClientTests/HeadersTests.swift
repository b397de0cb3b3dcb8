import HTTPTypes
import RxHTTP
import RxTesting
import Testing

@testable import RxClient

/// Header fields of client and endpoint: order, repetition, removal.
@Suite struct HeadersTests {
    private func lines(_ call: InlineEndpoint, _ configure: (inout ClientConfiguration) -> Void = { _ in })
        throws
        -> [String]
    {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        return try PreparedRequest(call, configuration: configuration).serialized().headerFields
            .map { "\($0.name): \($0.value)" }
    }

    /// Fields keep their order and may repeat.
    @Test func order() throws {
        let call = InlineEndpoint(.get, "/x", headers: ["B": "1", "A": "2", "B": "3", "C": "4"])
        #expect(
            try lines(call) {
                $0.userAgent = nil
                $0.options.headers = ["Z": "1", "Y": "2", "Z": "3"]
            } == ["Z: 1", "Y: 2", "Z: 3", "B: 1", "A: 2", "B: 3", "C: 4"])
    }

    /// An endpoint's fields replace all the client's fields of the same name; `nil` removes a field.
    @Test func replacing() throws {
        let call = InlineEndpoint(.get, "/x", headers: ["x-a": "endpoint", "X-B": nil])
        #expect(
            try lines(call) {
                $0.userAgent = nil
                $0.options.headers = ["X-A": "1", "X-A": "2", "X-B": "3", "X-C": "4"]
            } == ["X-C: 4", "x-a: endpoint"])
    }

    /// Requests name the library as their user agent, unless a field overrides it.
    @Test func userAgent() throws {
        let plain = InlineEndpoint(.get, "/x")
        #expect(try lines(plain) == ["User-Agent: RxNetworking/1.0"])
        #expect(try lines(plain) { $0.userAgent = "shop/2" } == ["User-Agent: shop/2"])
        #expect(try lines(plain) { $0.userAgent = nil } == [])
        #expect(try lines(plain) { $0.options.headers["user-agent"] = "shop/3" } == ["user-agent: shop/3"])
        #expect(try lines(plain) { $0.options.headers["User-Agent"] = nil } == [])
        #expect(try lines(InlineEndpoint(.get, "/x", headers: ["User-Agent": "e"])) == ["User-Agent: e"])
        #expect(try lines(InlineEndpoint(.get, "/x", headers: ["User-Agent": nil])) == [])
        let error = #expect(throws: NetworkError.self) { try lines(plain) { $0.userAgent = "a\r\nb" } }
        #expect(error?.code == .invalidHeader)
    }

    /// Names of fields are case-insensitive.
    @Test func subscripts() {
        var headers: Headers = ["A": "1", "B": "2", "a": "3"]
        #expect(headers["A"] == "1, 3")
        #expect(headers.values(of: "a") == ["1", "3"])
        #expect(headers["C"] == nil)
        headers["a"] = "4"
        #expect(headers.fields.map(\.name) == ["a", "B"])
        headers.append("A", "5")
        #expect(headers["a"] == "4, 5")
        headers["B"] = nil
        #expect(headers["B"] == nil)
        #expect(headers.fields.count == 3)
        #expect(
            Headers(["B": "2", "A": "1"]).fields == [
                .init(name: "A", value: "1"), .init(name: "B", value: "2"),
            ])
    }

    /// More fields than a message can have are an error and not a trap.
    @Test func tooMany() throws {
        var headers = Headers()
        for _ in 0..<70_000 { headers.append("A", "b") }
        let error = #expect(throws: NetworkError.self) {
            try lines(InlineEndpoint(.get, "/x", headers: headers))
        }
        #expect(error?.code == .invalidHeader)
    }
}
