#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxAuth

/// Proofs of possession (RFC 9449): their claims, their nonces, and that none is sent twice.
@Suite struct DPoPTests {
    private let server = AuthorizationServerDouble()
    private static let nonceField = HTTPField.Name("DPoP-Nonce")!

    private static func proof(_ request: Request) -> JSONWebToken? {
        HTTPField.Name("DPoP").flatMap { request.headerFields[$0] }.flatMap { JSONWebToken($0) }
    }

    private static func boundTokens(_ token: String = "T1") -> ScriptedTransport.Reply {
        AuthorizationServerDouble.tokens(token, refresh: "R1", ["token_type": .string("DPoP")])
    }

    private func client(_ dpop: DPoP, configure: (inout ClientConfiguration) -> Void = { _ in }) -> Client {
        server.answer("/token") { _ in Self.boundTokens() }
        let session = Session.oauth(
            .discover("https://id.test"), client: .public("cli"), flow: BrowserDouble().grant, dpop: dpop)
        return server.client(session) { configuration in
            configuration.signer = dpop
            configure(&configuration)
        }
    }

    /// The claims of both kinds of proofs, and their signature by the key inside them. They are dated a second back, for
    /// servers whose clock is a little behind.
    @Test func claims() throws {
        let dpop = DPoP()
        _ = try server.result(client(dpop).get("/api?x=1#f")).get()
        let token = try #require(server.calls("/token").first.flatMap { Self.proof($0.request) })
        #expect(
            token.claims["htm"] == .string("POST") && token.claims["htu"] == .string("https://id.test/token"))
        #expect(token.claims["ath"] == nil && token.claims["iat"] == .integer(1_699_999_999))
        let call = try #require(server.calls("/api").first)
        #expect(call.authorization == "DPoP T1")
        let proof = try #require(Self.proof(call.request))
        #expect(
            proof.claims["htm"] == .string("GET") && proof.claims["htu"] == .string("https://api.test/api"))
        #expect(proof.claims["ath"] == .string(SHA256.hash(data: Array("T1".utf8)).base64URLText))
        #expect(proof.claims["nonce"] == nil)
        #expect(proof.header["typ"] == .string("dpop+jwt") && proof.header["alg"] == .string("ES256"))
        let members = try #require(proof.header["jwk"])
        #expect(members["d"] == nil)
        let key = try #require(JSONWebKeySet.Key(members))
        #expect(key.verifies(proof))
        #expect(dpop.key.thumbprint == JSONWebKeySet.thumbprint(of: dpop.key.publicKey))
    }

    /// The URL in a proof is that of the request as the server sees it: without user info and default port, and with a
    /// path (RFC 9449 §4.3, RFC 3986 §6.2.3).
    @Test(
        arguments: [
            ("https://anna:secret@api.test/a?x=1#f", "https://api.test/a"),
            ("https://api.test:443/a", "https://api.test/a"), ("http://api.test:80", "http://api.test/"),
            ("https://api.test:8443?x", "https://api.test:8443/"),
            ("HTTPS://API.test/A", "https://api.test/A"),
            ("https://api.test/a%2Fb%3f/", "https://api.test/a%2Fb%3f/"),
        ])
    func targets(url: String, target: String) throws {
        let proof = DPoP().proof(.get, url, token: nil, at: server.clock.date)
        let token = try #require(JSONWebToken(try server.result(proof).get()))
        #expect(token.claims["htu"] == .string(target))
    }

    /// The authorization request is bound to the key as well.
    @Test func boundCode() throws {
        server.answer("/token") { _ in Self.boundTokens() }
        let browser = BrowserDouble()
        let dpop = DPoP(key: try DPoP.Key(.generated()))
        let tokens = try server.result(
            server.login(browser.grant, client: .public("cli"), dpop: dpop).fetchTokens()
        ).get()
        #expect(tokens.isBound && browser.pages.first?["dpop_jkt"] == dpop.key.thumbprint)
        #expect(
            server.calls("/token").first.flatMap { Self.proof($0.request) }?.header["alg"] == .string("EdDSA")
        )
    }

    /// A token that the server has not bound is refused.
    @Test func unboundToken() throws {
        let error = try server.failure(server.login(dpop: DPoP()).fetchTokens())
        #expect(error.code == .oauthResponse && error.message.contains("not bound"))
    }

    /// A server that does not know the algorithm is not asked.
    @Test func unknownAlgorithm() throws {
        let server = AuthorizationServerDouble(metadata: [
            "dpop_signing_alg_values_supported": .array([.string("PS256")])
        ])
        let error = try server.failure(server.login(dpop: DPoP()).fetchTokens())
        #expect(error.code == .oauthMetadata && server.calls("/token").isEmpty)
    }

    /// The token endpoint demands a nonce once; it may change later, and endless demands end.
    @Test func nonceOfTokenEndpoint() throws {
        let nonces = Notes<String?>()
        server.answer("/token") { call in
            let nonce = Self.proof(call.request)?.claims["nonce"]?.text
            nonces.add(nonce)
            guard nonce == "N1" else {
                return AuthorizationServerDouble.refusal("use_dpop_nonce", headers: [Self.nonceField: "N1"])
            }
            return Self.boundTokens()
        }
        let login = server.login(dpop: DPoP())
        for _ in 0..<2 { #expect(try server.result(login.fetchTokens()).error == nil) }
        #expect(nonces.all == [nil, "N1", "N1"])
        server.answer("/token") { _ in
            AuthorizationServerDouble.refusal("use_dpop_nonce", headers: [Self.nonceField: "N2"])
        }
        let error = try server.failure(login.fetchTokens())
        #expect(error.envelopeCode == "use_dpop_nonce" && server.calls("/token").count == 5)
        #expect(!OAuth.Login.isRejection(error))
    }

    /// A token endpoint may demand its nonce in a challenge, as APIs do, without a document.
    @Test func nonceInChallenge() throws {
        server.answer("/token") { call in
            Self.proof(call.request)?.claims["nonce"]?.text == "N1"
                ? Self.boundTokens()
                : .status(
                    .unauthorized,
                    headers: [
                        .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, Self.nonceField: "N1",
                    ])
        }
        let login = server.login(BrowserDouble().grant, client: .public("cli"), dpop: DPoP())
        let first = try server.result(login.logIn()).get()
        #expect(try server.result(login.renew(first)).get().refreshToken == "R1")
        #expect(server.calls("/token").count == 3)
    }

    /// An API demands a nonce once for each exchange, and names new ones in successful responses.
    @Test func nonceOfResource() throws {
        let count = Notes<Int>()
        server.answer("/api") { call in
            count.add(1)
            let nonce = Self.proof(call.request)?.claims["nonce"]?.text
            let next: HTTPFields = [Self.nonceField: "N\(count.all.count)"]
            guard nonce == "N\(count.all.count - 1)" else {
                return .status(
                    .unauthorized,
                    headers: [
                        .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#,
                        Self.nonceField: "N\(count.all.count)",
                    ])
            }
            return .json("1", headers: next)
        }
        let client = client(DPoP())
        for _ in 0..<3 { #expect(try server.result(client.get("/api")).error == nil) }
        #expect(count.all.count == 4 && server.calls("/token").count == 1)
    }

    /// A server that always wants another nonce is asked twice for each login, not forever.
    @Test func endlessNonces() throws {
        let count = Notes<Int>()
        server.answer("/api") { _ in
            count.add(1)
            return .status(
                .unauthorized,
                headers: [
                    .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, Self.nonceField: "N\(count.all.count)",
                ])
        }
        #expect(try server.result(client(DPoP()).get("/api")).error?.status == .unauthorized)
        #expect(count.all.count == 2)
    }

    /// A refused proof says nothing about the token, which is neither renewed nor replaced by a login.
    @Test(arguments: [
        (#"DPoP error="use_dpop_nonce""#, 1), (#"DPoP error="invalid_dpop_proof""#, 1),
        (#"Bearer, DPoP error="use_dpop_nonce", algs="ES256""#, 1),
        (#"DPoP error="invalid_token", DPoP error="use_dpop_nonce""#, 2), ("DPoP", 2),
    ])
    func refusedProof(challenge: String, tokenRequests: Int) throws {
        server.answer("/api") { _ in
            .status(.unauthorized, headers: [.wwwAuthenticate: challenge, Self.nonceField: "N"])
        }
        let client = client(DPoP())
        #expect(try server.result(client.get("/api")).error?.status == .unauthorized)
        #expect(server.calls("/token").count == tokenRequests)
    }

    /// Nonces that are good for one use.
    private final class SingleUse: Sendable {
        private let contents = Mutex<(count: Int, valid: Set<String>)>((0, []))

        /// Uses a nonce up: whether it was good, and the next one.
        func use(_ nonce: String?) -> (isGood: Bool, next: String) {
            contents.withLock { contents in
                let isGood = nonce.map { contents.valid.remove($0) != nil } ?? false
                contents.count += 1
                contents.valid.insert("N\(contents.count)")
                return (isGood, "N\(contents.count)")
            }
        }
    }

    /// Requests at the same time, at an API whose nonces are good for one use: each is sent twice at most, with the nonce of
    /// its own refusal, and none renews the token.
    @Test func concurrentNonces() throws {
        let nonces = SingleUse()
        server.answer("/api") { call in
            let (isGood, next) = nonces.use(Self.proof(call.request)?.claims["nonce"]?.text)
            var headers: HTTPFields = [Self.nonceField: next]
            if !isGood { headers[.wwwAuthenticate] = #"DPoP error="use_dpop_nonce""# }
            return .json(
                "1", status: isGood ? .ok : .unauthorized, headers: headers, after: .milliseconds(10))
        }
        let client = client(DPoP())
        for round in 1...3 {
            let all = Observable<Int, NetworkError>.sequence(0..<20)
                .flatMap(.merge) { _ in client.get("/api") }.collect()
            #expect(try server.result(all).get().count == 20)
            #expect(server.calls("/api").count <= round * 40)
        }
        #expect(server.calls("/token").count == 1)
    }

    /// The same at a token endpoint.
    @Test func concurrentNoncesOfTokenEndpoint() throws {
        let nonces = SingleUse()
        server.answer("/token") { call in
            let (isGood, next) = nonces.use(Self.proof(call.request)?.claims["nonce"]?.text)
            guard isGood else {
                return AuthorizationServerDouble.refusal("use_dpop_nonce", headers: [Self.nonceField: next])
            }
            return Self.boundTokens()
        }
        let login = server.login(dpop: DPoP())
        let all = Observable<Int, NetworkError>.sequence(0..<20)
            .flatMap(.merge) { _ in login.fetchTokens() }.collect()
        #expect(try server.result(all).get().count == 20)
        #expect(server.calls("/token").count <= 40)
    }

    /// A body that can be sent only once is not sent again for a nonce.
    @Test func oneShotBodies() throws {
        server.answer("/api") { _ in
            .status(
                .unauthorized,
                headers: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, Self.nonceField: "N"])
        }
        let body = Body.stream(.just([1, 2, 3]), length: 3)
        let error = try server.result(client(DPoP()).put("/api", .body(body))).error
        #expect(error?.status == .unauthorized && server.calls("/api").count == 1)
    }

    /// Nonces belong to their origin, and malformed ones are not used.
    @Test func nonceOrigins() throws {
        let dpop = DPoP()
        let context = SigningContext(
            date: server.clock.date, scheduler: server.clock, transport: server.transport())
        func learn(_ nonce: String, _ url: String) throws {
            let request = Request(url: try #require(URL(string: url)))
            _ = dpop.receive(
                ResponseHead(status: .ok, headerFields: [Self.nonceField: nonce]), to: request, in: context)
        }
        func nonce(_ url: String) throws -> String? {
            var request = Request(url: try #require(URL(string: url)))
            request.headerFields[.authorization] = "dpop T"
            let signed = try server.result(dpop.sign(request, in: context)).get()
            return Self.proof(signed)?.claims["nonce"]?.text
        }
        try learn("A", "https://a.test/x")
        try learn("B", "https://b.test/x")
        try learn(String(repeating: "x", count: 2000), "https://a.test/x")
        #expect(try nonce("https://a.test/y") == "A" && nonce("https://b.test/") == "B")
        #expect(try nonce("https://a.test:444/") == nil)
        for number in 0..<1000 { try learn("N", "https://h\(number).test/") }
        #expect(try nonce("https://h999.test/") == "N")
    }

    /// Requests with a token of another scheme, and without one, have no proof.
    @Test(arguments: [nil, "Bearer T", "Basic dpop", "DPoP"])
    func otherSchemes(authorization: String?) throws {
        let context = SigningContext(
            date: server.clock.date, scheduler: server.clock, transport: server.transport())
        var request = Request(url: try #require(URL(string: "https://a.test/")))
        request.headerFields[.authorization] = authorization
        let signed = try server.result(DPoP().sign(request, in: context)).get()
        #expect(Self.proof(signed) == nil && signed.headerFields == request.headerFields)
    }

    /// A key that is kept elsewhere.
    @Test func foreignKey() throws {
        let key = P256.Signing.PrivateKey()
        let point = Array(key.publicKey.rawRepresentation)
        let members = [
            "kty": "EC", "crv": "P-256", "x": point[..<32].base64URLText, "y": point[32...].base64URLText,
        ]
        let dpop = DPoP(
            key: DPoP.Key(algorithm: "ES256", publicKey: members) { [clock = server.clock] bytes in
                Observable<Void, NetworkError>.timer(.seconds(1), on: clock).map { () throws(NetworkError) in
                    guard let signature = try? key.signature(for: bytes) else {
                        throw NetworkError(.invalidConfiguration, "no")
                    }
                    return Array(signature.rawRepresentation)
                }
            })
        _ = try server.result(client(dpop).get("/api")).get()
        let proof = try #require(server.calls("/api").first.flatMap { Self.proof($0.request) })
        let known = try #require(proof.header["jwk"].flatMap { JSONWebKeySet.Key($0) })
        #expect(known.verifies(proof))
        #expect(throws: NetworkError.self) { try DPoP.Key(.hmacSHA256([UInt8](repeating: 1, count: 16))) }
    }

    /// Ten thousand retries, hedges and redirects, with demands for nonces between them: no `jti` is sent twice, and each
    /// proof is for the exchange that carries it.
    @Test func neverTwice() throws {
        let exchanges = ExchangeCounter()
        server.answer("/api") { _ in
            let number = exchanges.next()
            return switch number % 5 {
            case 0: .status(.serviceUnavailable)
            case 1: .status(.temporaryRedirect, headers: [.location: "/api?\(number)"])
            case 2: .failure(.connectionLost)
            case 3:
                .status(
                    .unauthorized,
                    headers: [
                        .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, Self.nonceField: "N\(number)",
                    ])
            // Slow enough for a hedge, which gets another answer.
            default: .json("1", after: .seconds(2))
            }
        }
        let client = client(DPoP()) { configuration in
            configuration.options.retry = .exponentialBackoff(maxRetries: 3)
            configuration.options.hedging = .after(.seconds(1))
            // A budget would refuse most of the retries and hedges.
            configuration.retryBudget = nil
        }
        let repetitions = Repetitions()
        let traffic = client.traffic.subscribe { repetitions.add($0.kind) }
        var batches = 0
        while repetitions.total < 10_000, batches < 100 {
            batches += 1
            for _ in 0..<200 { _ = Recorder(client.get("/api"), on: server.clock) }
            try server.clock.run()
        }
        traffic.cancel()
        for (name, count) in repetitions.counts { #expect(count >= 1000, "\(name)") }
        #expect(repetitions.counts.count == 3 && repetitions.total >= 10_000)

        let proofs = server.calls("/api").map { Self.proof($0.request)?.claims }
        #expect(proofs.count == exchanges.value && proofs.count > repetitions.total)
        #expect(Set(proofs.compactMap { $0?["jti"]?.text }).count == proofs.count)
        let isOwn = proofs.allSatisfy { claims in
            claims?["htm"] == .string("GET") && claims?["htu"] == .string("https://api.test/api")
        }
        #expect(isOwn)
    }

    /// Counts exchanges.
    private final class ExchangeCounter: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    /// Counts the exchanges that are not the first of their requests, by their causes.
    private final class Repetitions: Sendable {
        private let contents = Mutex<[String: Int]>([:])

        var counts: [String: Int] { contents.withLock { $0 } }
        var total: Int { counts.values.reduce(0, +) }

        func add(_ kind: TrafficEvent.Kind) {
            let name: String
            switch kind {
            case .retry: name = "retries"
            case .hedged: name = "hedges"
            case .transfer(.redirected): name = "redirects"
            default: return
            }
            contents.withLock { $0[name, default: 0] += 1 }
        }
    }
}
#endif
