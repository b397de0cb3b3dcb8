#if Auth && Logging
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

@testable import RxAuth
@testable import RxClient

/// The requests to authorization servers in logs and recordings: none of their secrets is shown.
@Suite struct OAuthTrafficTests {
    private static let canary = "cAnArY7"

    private let server = AuthorizationServerDouble(metadata: [
        "pushed_authorization_request_endpoint": .string("https://id.test/par")
    ])

    /// Everything that a log with all its content and a recording with bodies show of requests.
    private func output(of requests: [Request]) throws -> [String] {
        let events = requests.enumerated().flatMap { number, request in
            [
                TrafficEvent.Kind.started, .sent, .broken(NetworkError(.connectionLost, "lost")),
            ].map {
                TrafficEvent(
                    kind: $0, request: request, exchange: number, time: .zero,
                    date: Date(timeIntervalSince1970: 0))
            }
        }
        let traffic = Observable<TrafficEvent, Never>.sequence(events)
        let store = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = .trace
        var style = TrafficLog()
        style.showsHeaders = true
        style.bodyLimit = 1 << 20
        _ = traffic.log(to: logger, as: style)
        let recording = HARRecording(of: traffic, bodyLimit: 1 << 20)
        let archive = String(decoding: try recording.archive.encoded(), as: UTF8.self)
        #expect(archive.components(separatedBy: "startedDateTime").count == requests.count + 1)
        #expect(store.entries.count >= 3 * requests.count)
        return store.entries.map { "\($0.message) \($0.metadata)" } + [archive]
            + requests.map { "\($0)" }
    }

    /// Every request that a login sends, for each way in which clients prove their id.
    @Test func requests() throws {
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens("\(Self.canary)T", refresh: "\(Self.canary)R")
        }
        server.answer("/par") { _ in .json(#"{"request_uri":"urn:x"}"#, status: .created) }
        server.answer("/revoke") { _ in .status(.ok) }
        server.answer("/introspect") { _ in .json(#"{"active":true}"#) }
        server.answer("/device") { _ in
            .json(
                #"{"device_code":"\#(Self.canary)","user_code":"U","verification_uri":"https://id.test/d","interval":1}"#
            )
        }
        let secret = Self.canary + " /:+ä"
        let clients: [OAuth.Client] = [
            .confidential("cli", secret: secret),
            OAuth.Client(id: "cli", authentication: .post(secret: secret)),
            OAuth.Client(id: "cli", authentication: .privateKey(.generatedP256())), .public("cli"),
        ]
        for client in clients {
            let state = Notes<String>()
            server.answer("/par") { call in
                state.add(call["state"] ?? "")
                return .json(#"{"request_uri":"urn:x"}"#, status: .created)
            }
            let browser = BrowserDouble { _ in "code=\(Self.canary)C&state=\(state.all.last ?? "")" }
            let assertion = OAuth.Grant.jwtBearer { .just(Self.canary) }
            let exchange = OAuth.Grant.tokenExchange(
                .init(subject: .init(Self.canary), actor: .init(Self.canary)))
            for grant in [browser.grant, .device { _ in }, assertion, exchange] {
                let login = server.login(grant, client: client)
                let credential = try server.result(login.logIn()).get()
                _ = try server.result(login.renew(credential)).get()
                _ = try server.result(login.revoke(credential)).get()
                _ = try server.result(login.introspect(credential.token)).get()
            }
        }
        let requests = server.calls.filter { $0.request.method == .post }.map(\.request)
        #expect(requests.count >= clients.count * 20)
        // What is secret is sent, escaped or not, and is not shown.
        let sent = requests.filter { request in
            guard case .bytes(let bytes) = request.body else { return false }
            return String(decoding: bytes, as: UTF8.self).contains(Self.canary)
        }
        #expect(sent.count >= clients.count * 20)
        let encoded = [secret, "cli:" + secret.formEncoded].map { Data($0.utf8).base64EncodedString() }
        let assertions = server.calls.compactMap { $0["client_assertion"] }
        #expect(!assertions.isEmpty)
        for text in try output(of: requests) {
            #expect(!text.contains(Self.canary), "\(text.prefix(300))")
            for secret in encoded + assertions { #expect(!text.contains(secret), "\(text.prefix(300))") }
        }
    }

    /// Proofs of DPoP in token requests, codes' verifiers and states are secret as well.
    @Test func proofs() throws {
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens("T", ["token_type": .string("DPoP")])
        }
        server.answer("/par") { _ in .json(#"{"request_uri":"urn:x"}"#, status: .created) }
        let browser = BrowserDouble { [server] _ in
            "code=C1&state=\(server.calls("/par").last?["state"] ?? "")"
        }
        let login = server.login(browser.grant, client: .public("cli"), dpop: DPoP())
        _ = try server.result(login.fetchTokens()).get()
        let secrets = server.calls.flatMap { call in
            ["state", "code_verifier", "code_challenge"].compactMap { call[$0] }
                + [call.request.headerFields[.dpop]].compactMap { $0 }
        }
        #expect(secrets.count >= 5)
        for text in try output(of: server.calls.map(\.request)) {
            for secret in secrets { #expect(!text.contains(secret), "\(text.prefix(300))") }
        }
    }

    /// The traffic of a client with a session is that of the API: the requests of the login are not in it, and the token is
    /// hidden.
    @Test func session() throws {
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens("\(Self.canary)T", refresh: "\(Self.canary)R", expires: 100)
        }
        let session = Session.oauth(
            .discover("https://id.test"), client: .confidential("cli", secret: Self.canary),
            flow: .clientCredentials)
        let client = server.client(session)
        let recording = HARRecording(of: client.traffic, bodyLimit: 1 << 20)
        let store = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = .trace
        var style = TrafficLog()
        style.showsHeaders = true
        style.bodyLimit = 1 << 20
        client.traffic.log(to: logger, as: style)
        for _ in 0..<2 {
            _ = try server.result(client.get("/api")).get()
            try server.clock.advance(by: .seconds(90))
        }
        #expect(server.calls("/token").count == 2)
        let archive = String(decoding: try recording.archive.encoded(), as: UTF8.self)
        for text in store.entries.map({ "\($0.message) \($0.metadata)" }) + [archive] {
            #expect(!text.contains(Self.canary) && !text.contains("id.test"))
        }
        #expect(archive.contains("api.test") && !store.entries.isEmpty)
    }
}
#endif
