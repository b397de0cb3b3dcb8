#if Logging
import FoundationEssentials
import HTTPTypes
import InMemoryLogging
import Logging
import RxHAR
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// A secret in every possible place, and every output that could show it.
@Suite struct SecretsTests {
    /// Unlike any other text, in every encoding.
    static let canary = "cAnArY7"

    /// One place of a secret: the client's setup, its request and the response.
    struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        var baseURL = "https://a.test"
        var call = InlineEndpoint(.get, "/x")
        var answer = ScriptedTransport.Reply.json(#"{"ok":true}"#)
        var configure: @Sendable (inout ClientConfiguration) -> Void = { _ in }
        /// Whether the secret is sent with the request, or else received with the response.
        var isSent = true

        var testDescription: String { name }
    }

    private struct Named: Encodable, Sendable {
        let name: String
        let pin: String
        let cards: [[String: String]]
    }

    static let places: [Place] = [
        Place(
            name: "Authorization",
            call: InlineEndpoint(.get, "/x", headers: ["Authorization": "Basic \(canary)"])),
        Place(name: "Cookie", call: InlineEndpoint(.get, "/x", headers: ["Cookie": "a=\(canary); b=1"])),
        Place(
            name: "Proxy-Authorization",
            call: InlineEndpoint(.get, "/x", headers: ["Proxy-Authorization": canary])),
        Place(
            name: "a secret field", call: InlineEndpoint(.get, "/x", headers: ["X-Key": canary]),
            configure: { $0.secretFields = [HTTPField.Name("x-key")!] }),
        Place(
            name: "a secret field of the client's",
            configure: {
                $0.options.headers["X-Key"] = canary
                $0.secretFields = [HTTPField.Name("X-Key")!]
            }),
        Place(
            name: "a usual parameter of the query",
            call: InlineEndpoint(.get, "/x", query: ["access_token": canary])),
        Place(
            name: "a parameter of the query that the client marks",
            call: InlineEndpoint(.get, "/x", query: ["who": canary]),
            configure: { $0.secretParameters = ["Who"] }),
        Place(
            name: "a parameter of the query that is marked",
            call: InlineEndpoint(.get, "/x", .query(["pin": canary]).hiding("pin"))),
        Place(name: "the path's own query", call: InlineEndpoint(.get, "/x?token=\(canary)&a=b")),
        Place(name: "the fragment", call: InlineEndpoint(.get, "/x#id_token=\(canary)")),
        Place(
            name: "a form", call: InlineEndpoint(.post, "/x", .form(["user": "anna", "password": canary]))),
        Place(
            name: "a form with names in names",
            call: InlineEndpoint(.post, "/x", .form(["user": ["password": canary]]))),
        Place(name: "a marked form", call: InlineEndpoint(.post, "/x", .form(["pin": canary]).hiding("PIN"))),
        Place(
            name: "JSON",
            call: InlineEndpoint(
                .post, "/x", .json(Named(name: "a", pin: canary, cards: [["pin": canary]])).hiding("pin"))),
        Place(
            name: "an object in JSON",
            call: InlineEndpoint(.post, "/x", .json(["secret": ["a": [canary], "b": [canary]]]))),
        Place(
            name: "a part of a form",
            call: InlineEndpoint(.post, "/x", .multipart([.text("a", "b"), .text("password", canary)]))),
        Place(
            name: "a marked part of a form",
            call: InlineEndpoint(.post, "/x", .multipart([.text("pin", canary)]).hiding("pin"))),
        Place(
            name: "a part's own field",
            call: InlineEndpoint(.post, "/x", .multipart([.text("a", "b", headers: ["X-Api-Key": canary])]))),
        Place(
            name: "another spelling",
            call: InlineEndpoint(
                .post, "/x", .json(["accessToken": canary, "client-secret": canary, "REFRESH_TOKEN": canary]))
        ),
        Place(
            name: "another spelling in the query",
            call: InlineEndpoint(.get, "/x", query: ["clientSecret": canary])),
        Place(
            name: "a field named like a secret",
            call: InlineEndpoint(.get, "/x", headers: ["token": canary, "X-Api-Key": canary])),
        Place(name: "the user info", baseURL: "https://anna:\(canary)@a.test"),
        Place(name: "the user", baseURL: "https://\(canary)@a.test"),
        Place(
            name: "a bearer token", configure: { $0.session = session(.bearer) }),
        Place(
            name: "a credential in a field", configure: { $0.session = session(.header("X-Token")) }),
        Place(
            name: "a credential in the query", configure: { $0.session = session(.query("sid")) }),
        Place(
            name: "a credential in the form", call: InlineEndpoint(.post, "/x", .form(["a": 1])),
            configure: { $0.session = session(.parameter("sid")) }),
        Place(
            name: "a credential in a cookie", configure: { $0.session = session(.cookie("sid")) }),
        Place(
            name: "a signature in the query",
            configure: { $0.signature = .parameters { _ in ["sgn": canary] } }),
        Place(
            name: "a signature in a field",
            configure: { $0.signature = .headers { _ in ["X-Sign": canary] } }),
        Place(
            name: "Set-Cookie", answer: .status(.ok, headers: [.setCookie: "sid=\(canary); Path=/"]),
            isSent: false),
        Place(
            name: "a token in the answer", answer: .json(#"{"data":{"Token": "\#(canary)"}}"#), isSent: false),
        Place(
            name: "a token in the answer that is marked",
            call: InlineEndpoint(.post, "/x", .json(["a": 1]).hiding("sid")),
            answer: .json(#"{"sid":["\#(canary)"]}"#), isSent: false),
        Place(
            name: "a redirect's target",
            answer: .status(
                .found, headers: [.location: "https://a.test/y?token=\(canary)#access_token=\(canary)"])),
        Place(
            name: "a link",
            answer: .json("[]", headers: [.link: "<https://a.test/x?token=\(canary)>; rel=next"]),
            isSent: false),
        Place(
            name: "an error's fields",
            answer: .json(
                #"{"token":"\#(canary)"}"#, status: .forbidden, headers: [.setCookie: "a=\(canary)"]),
            isSent: false),
        Place(
            name: "a token that does not decode", answer: .json(#"{"token":"\#(canary)""#), isSent: false),
    ]

    private static func session(_ placement: CredentialPlacement) -> Session {
        Session(credential: Credential(token: canary, refreshToken: canary), placement: placement) {
            .fail(NetworkError(.connect, "no login"))
        }
    }

    @Test(arguments: places)
    func isShownNowhere(_ place: Place) throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(nil, "/x", place.answer, .json("[]")), .when(nil, "/y", .json("[]")),
                .when(nil, "/lost", .failure(.connectionLost)),
            ])
        var configuration = ClientConfiguration(baseURL: place.baseURL)
        configuration.options.retry = .never
        place.configure(&configuration)
        let client = Client(configuration: configuration, transport: transport)

        var style = TrafficLog()
        style.showsHeaders = true
        style.bodyLimit = 10_000
        let store = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = .trace
        client.traffic.log(to: logger, as: style)
        let recording = HARRecording(of: client.traffic, bodyLimit: 10_000)
        let events = Recorder(client.traffic, on: clock)

        struct Typed: Decodable, Sendable { let ok: Bool }
        var lost = place.call
        lost.path = "/lost"
        let answer = Recorder(client.request(place.call), on: clock)
        let typed = Recorder(client.request(place.call).decode(Typed.self), on: clock)
        let failed = Recorder(client.request(lost), on: clock)
        try clock.run()

        // The secret was sent or received.
        let wire = transport.requests.map { request in
            "\(request.url.absoluteString) \(request.headerFields.map(\.value)) \(String(decoding: request.body.known, as: UTF8.self))"
        }
        #expect(wire.contains { $0.contains(Self.canary) } == place.isSent)

        var outputs: [(name: String, text: String)] = []
        for entry in store.entries { outputs.append(("log", "\(entry.message) \(entry.metadata)")) }
        outputs.append(("HAR", String(decoding: try recording.archive.encoded(), as: UTF8.self)))
        for request in transport.requests {
            outputs.append(("curl", request.curlCommand()))
            outputs += Self.texts(of: request, "request")
        }
        for event in events.values { outputs += Self.texts(of: event, "event") }
        for response in answer.values { outputs += Self.texts(of: response, "response") }
        for error in [answer.failure, typed.failure, failed.failure].compactMap(\.self) {
            outputs.append(("error", "\(error) \(String(reflecting: error))"))
        }
        if let session = configuration.session { outputs += Self.texts(of: session.credential, "credential") }
        #expect(outputs.count >= 12)
        #expect(store.entries.contains { $0.metadata["headers"] != nil })
        for (name, text) in outputs where text.contains(Self.canary) {
            Issue.record("\(place.name) is shown in the \(name): \(text)")
        }
        #expect(failed.failure?.url?.absoluteString.contains(Self.canary) == false)
    }

    /// The output of printing, debugging and dumping.
    private static func texts(of value: some Sendable, _ name: String) -> [(name: String, text: String)] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            ("\(name)", "\(value)"), ("\(name)'s debug text", String(reflecting: value)),
            ("\(name)'s dump", dumped),
        ]
    }

    /// Of the server's text only the requested part is shown.
    @Test func aServerThatRepeatsASecret() throws {
        let clock = VirtualScheduler()
        let body = #"{"code":7,"message":"no such user: \#(Self.canary)"}"#
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.envelope = Envelope()
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/x", .json(body, status: .badRequest)), .when(.get, "/y", .json(body)),
                .when(.get, "/z", .json("[\"\(Self.canary)")),
            ])
        let client = Client(configuration: configuration, transport: transport)
        let store = InMemoryLogHandler()
        client.traffic.log(to: Logger(label: "test") { _ in store })
        let recording = HARRecording(of: client.traffic)
        let errors = ["/x", "/y", "/z"].map { Recorder(client.get($0), on: clock) }
        try clock.run()
        #expect(errors.map { $0.failure?.code } == [.status, .envelope, .decoding])
        #expect(errors[0].failure?.message.contains(Self.canary) == true)
        #expect(!store.entries.contains { "\($0)".contains(Self.canary) })
        #expect(!String(decoding: try recording.archive.encoded(), as: UTF8.self).contains(Self.canary))
    }
}
#endif
