import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

@Suite struct SignatureTests {
    private let clock = VirtualScheduler()

    private struct Signed: Endpoint {
        typealias Output = Response
        var path = "/x"
        var method = HTTPRequest.Method.post
        var parameters: Parameters
        var options = RequestOptions()

        func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters {
            parameters.adding(["from": "endpoint", "who": "endpoint"])
        }
    }

    private func configuration() -> ClientConfiguration {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.rewriteParameters = { $0.adding(["version": "1.0.0", "who": "client"]) }
        configuration.signature = .parameters { content in ["sign": content.canonicalQuery] }
        return configuration
    }

    private func signature(_ request: Request) -> String? {
        request.url.query()?.split(separator: "&").first { $0.hasPrefix("sign=") }
            .map { String($0.dropFirst(5)).percentDecoded }
    }

    /// The endpoint rewrites, then the client, and the signature covers the result.
    @Test func order() throws {
        let endpoint = Signed(parameters: .query(["b": [2, 10], "a": "x y&z", "n": ["k": true]]))
        let request = try PreparedRequest(endpoint, configuration: configuration()).sent()
        #expect(
            signature(request)
                == "a=x%20y%26z&b=10&b=2&from=endpoint&n%5Bk%5D=true&version=1.0.0&who=client")
    }

    /// The path's query and the query beside a body are signed, sorted together with the body's members.
    @Test func wholeRequest() throws {
        let endpoint = Signed(
            path: "/x?z=%C3%BC&empty", parameters: .json(["m": ["deep": 1]]).query(["q": 1]))
        let request = try PreparedRequest(endpoint, configuration: configuration()).sent()
        guard case .bytes(let bytes) = request.body else { return #expect(Bool(false)) }
        #expect(
            String(decoding: bytes, as: UTF8.self).contains(
                #""sign":"empty=&from=endpoint&m%5Bdeep%5D=1&q=1&version=1.0.0&who=client&z=%C3%BC""#))
    }

    /// A question mark behind the query's end begins none.
    @Test func fragments() throws {
        let request = try PreparedRequest(
            Signed(path: "/x#a?b=1", parameters: .json(["m": 1])), configuration: configuration()
        ).sent()
        guard case .bytes(let bytes) = request.body else { return #expect(Bool(false)) }
        #expect(
            String(decoding: bytes, as: UTF8.self).contains(
                #""sign":"from=endpoint&m=1&version=1.0.0&who=client""#))
    }

    /// A list is signed as the client's format sends it.
    @Test func lists() throws {
        let list = [["a": 1], ["a": 2]]
        for parameters in [Parameters.form(list), .standard(list)] {
            var configuration = ClientConfiguration(baseURL: "https://a.test")
            configuration.parameterFormat = .form
            configuration.signature = .headers { content in ["X-Sign": content.canonicalQuery] }
            let request = try PreparedRequest(
                InlineEndpoint(.post, "/x", parameters), configuration: configuration
            ).sent()
            guard case .bytes(let bytes) = request.body else { return #expect(Bool(false)) }
            #expect(String(decoding: bytes, as: UTF8.self) == "a=1&a=2")
            #expect(try request.headerFields[#require(HTTPField.Name("X-Sign"))] == "a=1&a=2")
        }
    }

    /// An endpoint can opt out of either.
    @Test func optOut() throws {
        let plain = Signed(
            method: .get, parameters: .query(["a": 1]),
            options: RequestOptions(isSigned: false, usesParameterRewriting: false))
        let request = try PreparedRequest(plain, configuration: configuration()).sent()
        #expect(request.url.query() == "a=1&from=endpoint&who=endpoint")
    }

    /// A signature can be a header field; an invalid one is an error before anything is sent.
    @Test func header() throws {
        var configuration = configuration()
        configuration.signature = .headers { _ in ["X-Sign": "abc"] }
        let endpoint = Signed(parameters: .none)
        #expect(
            try PreparedRequest(endpoint, configuration: configuration).sent()
                .headerFields[#require(HTTPField.Name("X-Sign"))] == "abc")
        configuration.signature = .headers { _ in ["X-Sign": "a\r\nb"] }
        #expect(throws: NetworkError.self) {
            try PreparedRequest(endpoint, configuration: configuration).sent()
        }
    }

    /// Each attempt is signed anew from the unsigned request, under the same id.
    @Test func anew() throws {
        let nonce = Atomic(0)
        let transport = ScriptedTransport(
            on: clock,
            [.when(.get, "/x", .status(.serviceUnavailable), .failure(.connectionLost), .status(.ok))])
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.signature = .parameters { content in
            #expect(content.parameters.map(\.name) == ["a"])
            return ["nonce": nonce.add(1, ordering: .relaxed).newValue]
        }
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.get("/x", query: ["a": 1]), on: clock)
        try clock.run()
        #expect(recorder.failure == nil)
        #expect(transport.requests.map { $0.url.query() } == ["nonce=1&a=1", "nonce=2&a=1", "nonce=3&a=1"])
        #expect(Set(transport.requests.map(\.id)).count == 1)
        #expect(transport.requests.map(\.attempt) == [1, 2, 3])
    }

    /// A signature that throws fails the request with its error, and nothing is sent.
    @Test func failing() throws {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.signature = .headers { _ throws(NetworkError) in
            throw NetworkError(.invalidParameters, "no key")
        }
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.message == "no key")
        #expect(transport.requests.isEmpty)
    }
}
