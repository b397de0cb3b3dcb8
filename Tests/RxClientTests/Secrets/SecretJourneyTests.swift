import FoundationEssentials
import HTTPTypes
import RxHAR
import RxHTTP
import RxLite
import RxParameters
import RxSimulation
import RxTesting
import Testing

@testable import RxClient

/// Additions of credentials and signatures, in every way in which a request leaves their origin.
@Suite struct SecretJourneyTests {
    /// Unlike any other text, in every encoding.
    static let canary = "cAnArY7"

    /// One way to add a secret to a request.
    struct Addition: Sendable, CustomTestStringConvertible {
        let name: String
        var call = InlineEndpoint(.post, "/x", .form(["a": "1"]))
        var configure: @Sendable (inout ClientConfiguration) -> Void

        var testDescription: String { name }

        init(
            _ name: String, _ call: InlineEndpoint = InlineEndpoint(.post, "/x", .form(["a": "1"])),
            placement: CredentialPlacement
        ) {
            self.name = name
            self.call = call
            configure = { configuration in
                configuration.session = Session(
                    credential: Credential(token: canary), placement: placement
                ) { .fail(NetworkError(.connect, "no login")) }
            }
        }

        init(
            _ name: String, _ call: InlineEndpoint = InlineEndpoint(.post, "/x", .form(["a": "1"])),
            signature: Signature
        ) {
            self.name = name
            self.call = call
            configure = { $0.signature = signature }
        }
    }

    static let additions: [Addition] = [
        Addition("bearer", placement: .bearer),
        Addition("header", placement: .header("X-Session")),
        Addition("query", placement: .query("sid")),
        Addition("form", placement: .parameter("sid")),
        Addition("cookie", placement: .cookie("sid")),
        Addition(
            "a field by a rule",
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                try request.setField("X-Mine", to: credential.token)
            }),
        Addition(
            "a query by a rule",
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                request.url = URL(string: "https://a.test/x?mine=\(credential.token)") ?? request.url
            }),
        Addition(
            "JSON by a rule", InlineEndpoint(.post, "/x", .json(["a": "1"])),
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                request.body = .text(#"{"a":"1","mine":"\#(credential.token)"}"#)
            }),
        Addition(
            "text by a rule", InlineEndpoint(.post, "/x", .text("a")),
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                request.body = .text("a " + credential.token)
            }),
        Addition(
            "a path segment by a rule",
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                request.url = URL(string: "https://a.test/x/\(credential.token)/1") ?? request.url
            }),
        Addition(
            "a name without a value by a rule",
            placement: CredentialPlacement { credential, request throws(NetworkError) in
                request.url = URL(string: "https://a.test/x?\(credential.token)") ?? request.url
            }),
        Addition("signed field", signature: .headers { _ in ["X-Sign": canary] }),
        Addition("signed form", signature: .parameters { _ in ["sgn": canary] }),
        Addition(
            "signed JSON", InlineEndpoint(.post, "/x", .json(["a": 1])),
            signature: .parameters { _ in ["sgn": canary] }),
        Addition(
            "signed query", InlineEndpoint(.get, "/x", .query(["a": 1])),
            signature: .parameters { _ in ["sgn": canary] }),
        Addition(
            "signed multipart", InlineEndpoint(.post, "/x", .multipart([.text("a", "1")])),
            signature: .parameters { _ in ["sgn": canary] }),
    ]

    private func client(
        _ addition: Addition, base: String = "https://a.test", on clock: VirtualScheduler,
        _ change: (inout ClientConfiguration) -> Void = { _ in },
        answering answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: answer)
        var configuration = ClientConfiguration(baseURL: base)
        configuration.options.retry = .never
        addition.configure(&configuration)
        change(&configuration)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// All bytes of the request on the wire.
    private func wire(_ request: Request) -> String {
        let fields = request.headerFields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        return
            "\(request.url.absoluteString)\n\(fields)\n\(String(decoding: request.body.known, as: UTF8.self))"
    }

    /// The rest of the request's path after `/x`, and its query; `nil` for other paths.
    private static func rest(of request: Request) -> String? {
        guard request.url.path.hasPrefix("/x") else { return nil }
        return request.url.path.dropFirst(2) + (request.url.query().map { "?" + $0 } ?? "")
    }

    private func holds(_ request: Request) -> Bool { wire(request).contains(Self.canary) }

    /// Logins of Django simplejwt and of devices are neither in a cassette nor in an archive.
    @Test(arguments: ["application/json", "text/plain", "application/octet-stream", nil])
    func loginsInExports(type: String?) throws {
        let secrets = [
            "opaque-access-token", "opaque-refresh-token", "d3vice-c0de-of-a-device", "one-time-482913",
            "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln",
        ]
        let json = """
            {"access": "\(secrets[0])", "refresh": "\(secrets[1])", "device_code": "\(secrets[2])", "interval": 5,
            "raw": "{\\"otp\\": \\"\(secrets[3])\\"}", "note": "\(secrets[4])"}
            """
        let clock = VirtualScheduler()
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let network = ScriptedTransport(
            on: clock, [.when(.post, "/token", .bytes(Array(json.utf8), headers: headers))])
        let transport = RecordingTransport(network)
        let client = Client(baseURL: "https://a.test", transport: transport)
        let recording = HARRecording(of: client.traffic, bodyLimit: 10_000)
        let recorder = Recorder(
            client.post("/token", .text(json), headers: ["X-Note": "by \(secrets[4])"]), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        let content = try #require(recording.archive.log.entries.first?.response.content)
        var body = content.text ?? ""
        if content.encoding != nil, let bytes = Data(base64Encoded: body) {
            body = String(decoding: bytes, as: UTF8.self)
        }
        let recorded = transport.cassette
        for text in [
            body, String(decoding: try recording.archive.encoded(), as: UTF8.self),
            String(decoding: recorded.encoded, as: UTF8.self),
            String(decoding: recorded.exchanges[0].content, as: UTF8.self),
        ] {
            for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
        }
        #expect(body.contains("\"interval\": 5"))
        for request in network.requests {
            for secret in secrets { #expect(!request.curlCommand().contains(secret), "\(secret)") }
        }
    }

    /// No redirect takes it to another origin, not even one that repeats path and query.
    @Test(arguments: additions)
    func redirects(_ addition: Addition) throws {
        for status in [301, 302, 303, 307, 308] {
            let clock = VirtualScheduler()
            let (client, transport) = client(addition, on: clock) { request in
                guard let rest = Self.rest(of: request) else { return .json("1") }
                return .status(.init(code: status), headers: [.location: "https://b.test/y\(rest)"])
            }
            let recorder = Recorder(client.request(addition.call), on: clock)
            try clock.run()
            #expect(recorder.isFinished)
            let requests = transport.requests
            try #require(requests.count == 2)
            #expect(holds(requests[0]), "it was there")
            #expect(!holds(requests[1]), "\(status): \(wire(requests[1]))")
            if status >= 307, addition.call.method == .post {
                #expect(requests[1].method == .post)
                #expect(!requests[1].body.isEmpty, "the request's own content goes along")
            }
        }
    }

    /// A 307 to the same origin keeps it, content included.
    @Test(arguments: additions)
    func redirectsWithin(_ addition: Addition) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, on: clock) { request in
            guard let rest = Self.rest(of: request) else { return .json("1") }
            return .status(.temporaryRedirect, headers: [.location: "/y\(rest)"])
        }
        let recorder = Recorder(client.request(addition.call), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map(holds) == [true, true])
    }

    /// Requests that leave the base URL's origin are sent without it: absolute URLs, plain http.
    @Test(arguments: additions, ["https://b.test/x", "http://a.test/x", "https://a.test:8443/x"])
    func absolute(_ addition: Addition, url: String) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, on: clock) {
            $0.allowsOtherOrigins = true
        } answering: { _ in
            .json("1")
        }
        var call = addition.call
        call.path = url
        let recorder = Recorder(client.request(call), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map(holds) == [false])
    }

    /// A client without a base URL has no origin for it.
    @Test(arguments: additions)
    func noBase(_ addition: Addition) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, base: "", on: clock) { _ in .json("1") }
        var call = addition.call
        call.path = "https://b.test/x"
        let recorder = Recorder(client.request(call), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map(holds) == [false])
    }

    /// A next page elsewhere is requested without it.
    @Test(arguments: additions)
    func pages(_ addition: Addition) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, on: clock) { request in
            guard request.url.path.hasPrefix("/x") else { return .json("[]") }
            return .json("[1]", headers: [.link: "<https://b.test/y>; rel=next"])
        }
        struct Numbers: Endpoint {
            typealias Output = [Int]
            let path = "/x"
            let method = HTTPRequest.Method.get
        }
        let recorder = Recorder(client.items(Numbers(), .link), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map { $0.url.host() } == ["a.test", "b.test"])
        #expect(transport.requests.last.map(holds) == false)
    }

    /// A standby server without TLS gets nothing that the main server gets over TLS.
    @Test(arguments: additions)
    func plainStandby(_ addition: Addition) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, on: clock) {
            $0.standbyURL = "http://standby.test"
        } answering: { _ in
            .json("1")
        }
        var call = addition.call
        call.options.server = .standby
        let recorder = Recorder(client.request(call), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map { $0.url.host() } == ["standby.test"])
        #expect(transport.requests.map(holds) == [false])
    }

    /// `authorize` does not change requests that may carry no credential.
    @Test func authorize() throws {
        let clock = VirtualScheduler()
        let session = Session(credential: Credential(token: Self.canary), clock: clock) { .never() }
        var request = Request(url: try #require(URL(string: "https://b.test/")))
        request.isCredentialFree = true
        let recorder = Recorder(session.authorize(request), on: clock)
        try clock.run()
        #expect(recorder.values.map(holds) == [false])
        #expect(recorder.values.map(\.credentialVersion) == [nil])
    }

    /// Additions are hidden without being declared secret.
    @Test(arguments: additions)
    func hidden(_ addition: Addition) throws {
        let clock = VirtualScheduler()
        let (client, transport) = client(addition, on: clock) { _ in .json("1") }
        let recording = HARRecording(of: client.traffic, bodyLimit: 1000)
        let events = Recorder(client.traffic, on: clock)
        let recorder = Recorder(client.request(addition.call), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        let request = try #require(transport.requests.last)
        #expect(holds(request))
        var texts = ["\(request)", request.curlCommand(), request.shownURL]
        texts.append(String(decoding: try recording.archive.encoded(), as: UTF8.self))
        texts += events.values.map { "\($0)" }
        for text in texts { #expect(!text.contains(Self.canary), "\(text)") }
    }
}
