import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

@Suite struct DecodeTests {
    private struct Goods: Decodable, Sendable, Equatable {
        let name: String
        let price: Double
    }

    private func response(_ text: String, path: [String] = []) throws -> Response {
        var response = Response(
            head: ResponseHead(status: .ok), body: Array(text.utf8),
            request: Request(url: try #require(URL(string: "https://a.test/x"))))
        response.payloadPath = path
        return response
    }

    /// Any Decodable: an object, an array, a scalar, an optional.
    @Test func decodes() throws {
        #expect(
            try response(#"{"name": "tea", "price": 1}"#).decode(Goods.self) == Goods(name: "tea", price: 1))
        #expect(try response("[1, 2]").decode([Int].self) == [1, 2])
        #expect(try response("7").decode(Int.self) == 7)
        #expect(try response("null").decode(Int?.self) == nil)
        #expect(
            try response(#"{"data": {"items": [3]}}"#, path: ["data", "items"]).decode([Int].self) == [3])
    }

    /// An error names the place, as a readable path.
    @Test(arguments: [
        (#"{"data": [{"name": "a", "price": 1}, {"name": "b"}]}"#, "data[1].price"),
        (#"{"data": [{"name": "a", "price": 1}, {"name": 5, "price": 1}]}"#, "data[1].name"),
        (#"{"data": [{"name": "a", "price": null}]}"#, "data[0].price"), (#"{"data": {}}"#, "data"),
        (#"{"data": [7]}"#, "data[0]"), (#"{}"#, "data"), (#"{"data": "#, ""), ("[]", ""), ("7", ""),
        (#"{"data": {"name": "a"}}"#, "data"),
    ])
    func codingPath(json: String, path: String) throws {
        let response = try response(json, path: ["data"])
        let error = #expect(throws: NetworkError.self) { _ = try response.decode([Goods].self) }
        #expect(error?.code == .decoding)
        #expect(error?.codingPath == path)
        #expect(error?.message.contains(path.isEmpty ? "the top level" : path) == true)
        #expect(error?.body == Array(json.utf8))
        #expect(error?.status == .ok)
        #expect(error?.requestID == response.request.id)
    }

    /// One sentence says which field it is and what was found.
    @Test(arguments: [
        (
            #"{"code": 0, "data": []}"#,
            "at the top level: expected an array, found an object with the fields code and data"
        ),
        (#"{}"#, "at the top level: expected an array, found an empty object"),
        ("7", "at the top level: expected an array, found a number"),
        ("null", "at the top level: expected an array, found null"),
        ("[[]]", "at [0]: expected an object, found an empty array"),
        (
            #"[{"title": "a", "price": 1}]"#,
            "at [0].name: the field is missing in an object with the fields title and price"
        ),
        (#"[{"name": "a", "price": null}]"#, "at [0].price: expected a number (Double), found null"),
        (#"[{"name": true, "price": 1}]"#, "at [0].name: expected a string, found true"),
        (
            #"[{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}]"#,
            "at [0].name: the field is missing in an object with the fields a, b, c, d, e, f, g, h and others"
        ),
    ])
    func sentence(json: String, message: String) throws {
        let error = #expect(throws: NetworkError.self) { _ = try response(json).decode([Goods].self) }
        #expect(error?.message == message)
    }

    /// The sentence of a value below the payload, and of one whose keys are converted.
    @Test func sentenceBelow() throws {
        let error = #expect(throws: NetworkError.self) {
            _ = try response(#"{"data": {"goods": {"name": "a"}}}"#, path: ["data", "goods"]).decode(
                Goods.self)
        }
        #expect(
            error?.message == "at data.goods.price: the field is missing in an object with the field name")
        let converted = try response(#"{"unit_price": "a"}"#)
        converted.decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Priced: Decodable { let unitPrice: Int }
        let mismatch = #expect(throws: NetworkError.self) { _ = try converted.decode(Priced.self) }
        #expect(mismatch?.message == "at unitPrice: Expected to decode Int but found a string instead.")
    }

    /// A missing payload is nil for an optional, at any depth; the payload follows the body.
    @Test func missingPayload() throws {
        for text in [#"{}"#, #"{"data": null}"#, #"{"data": 5}"#, #"{"data": {}}"#] {
            #expect(try response(text, path: ["data", "items"]).decode([Int]?.self) == nil)
            let error = #expect(throws: NetworkError.self) {
                _ = try response(text, path: ["data", "items"]).decode([Int].self)
            }
            #expect(error?.codingPath == "data.items")
        }
        var opened = try Envelope().open(response(#"{"code": 0, "data": [1]}"#))
        opened.body = Array(#"{"code": 0, "message": "", "data": [22]}"#.utf8)
        #expect(try opened.decode([Int].self) == [22])
        opened.payloadPath = []
        #expect(throws: NetworkError.self) { try opened.decode([Int].self) }
    }

    /// An empty body is reported as such.
    @Test func empty() throws {
        let error = #expect(throws: NetworkError.self) { _ = try response("").decode(Goods.self) }
        #expect(error?.message == "the body is empty")
    }

    private struct Picky: Decodable, Sendable {
        struct Reason: Error, CustomStringConvertible { let description = "only green tea" }
        init(from _: any Decoder) throws { throw Reason() }
    }

    /// A model's own error is reported unchanged.
    @Test func ownErrors() throws {
        let error = #expect(throws: NetworkError.self) { _ = try response("1").decode(Picky.self) }
        #expect(error?.code == .decoding)
        #expect(error?.message.contains("only green tea") == true)
    }

    /// Bodies above 256 KiB are decoded off the scheduler and delivered on it.
    @Test(.timeLimit(.minutes(1)))
    func largeBodies() async throws {
        for count in [256 << 10, (256 << 10) + 1] { try await decode(count: count) }
    }

    private func decode(count: Int) async throws {
        let clock = VirtualScheduler()
        let text = "\"" + String(repeating: "a", count: count - 2) + "\""
        let transport = ScriptedTransport(on: clock) { _ in .json(text) }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        let byHand = client.get("/x").decode(Probe.self)
        let byEndpoint = client.request(ProbeEndpoint(clock: clock))
        Probe.clock.value = clock
        for stream in [byHand, byEndpoint] {
            let recorder = Recorder(
                stream.map { probe in (probe.decodedOnClock, clock.isCurrent) }, on: clock)
            try await clock.run(until: { recorder.completion != nil })
            #expect(recorder.values.map(\.0) == [count <= 256 << 10])
            #expect(recorder.values.map(\.1) == [true])
            #expect(recorder.isFinished)
        }
    }
}

/// Records the thread on which it is decoded.
private struct Probe: Decodable, Sendable {
    static let clock = Box<VirtualScheduler>()
    let decodedOnClock: Bool

    init(from decoder: any Decoder) throws {
        _ = try decoder.singleValueContainer().decode(String.self)
        decodedOnClock = Self.clock.value?.isCurrent == true
    }
}

private struct ProbeEndpoint: Endpoint {
    typealias Output = Probe
    let path = "/x"
    let method = HTTPRequest.Method.get
    let clock: VirtualScheduler
}

extension VirtualScheduler {
    /// Runs due work repeatedly until work on other threads has made `condition` true.
    func run(until condition: () -> Bool) async throws {
        while !condition() {
            try run()
            await Task.yield()
        }
    }
}
