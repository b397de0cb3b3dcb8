#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// Signing by a client, and what a verifier accepts.
@Suite struct MessageVerifierTests {
    private let clock = VirtualScheduler()
    private static let key = MessageSigningKey.generated()
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func client(
        _ signer: MessageSigner,
        _ reply: @escaping @Sendable (Request) -> ScriptedTransport.Reply = { _ in .json("1") }
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: reply)
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.signer = signer
        return (Client(configuration: configuration, transport: transport), transport)
    }

    @discardableResult
    private func run<T>(_ stream: Observable<T, NetworkError>) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        return recorder
    }

    private func verifier(
        _ components: [SignatureComponent] = [.method, .authority, .contentDigest.ifPresent],
        _ change: (inout MessageVerifier.Policy) -> Void = { _ in }
    ) -> MessageVerifier {
        var policy = MessageVerifier.Policy(requiring: components)
        change(&policy)
        return MessageVerifier(policy) { $0.keyID == "k" ? Self.key.verifyingKey : nil }
    }

    /// Requests that a client signs are valid, with and without content.
    @Test func roundTrip() throws {
        let (client, transport) = client(.messageSignature(key: Self.key, keyID: "k", hasNonce: true))
        try run(client.get("/x", query: ["a": 1]))
        try run(client.post("/x", .text("hello")))
        let chunks = Observable<[UInt8], NetworkError>.sequence([Array("hel".utf8), Array("lo".utf8)])
        try run(client.post("/x", .body(.stream(chunks, isReplayable: true))))
        for request in transport.requests {
            let verified = try verifier().verify(SignableMessage(request), at: clock.date)
            #expect(verified.components.contains(.contentDigest) == !request.body.isEmpty)
            #expect(verified.parameters.nonce?.isEmpty == false)
        }
        let digests = transport.requests.map { $0.headerFields[.contentDigest] }
        #expect(
            digests == [
                nil, "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:",
                "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:",
            ])
        #expect(Set(transport.requests.map { $0.headerFields[.signature] }).count == 3)
    }

    /// The digest is compared with the content in whatever form a signature covers it, also in the trailer.
    @Test(
        arguments: [
            .contentDigest, .contentDigest.structured, .contentDigest.bytes, .contentDigest.member("sha-256"),
            .contentDigest.ofTrailer, .contentDigest.member("sha-256").ofTrailer,
        ] as [SignatureComponent])
    func coveredDigests(component: SignatureComponent) throws {
        let digest = ContentDigest(of: Array("hello".utf8), [.sha256, .sha512]).fieldValue
        var message = SignableMessage(ResponseHead(status: .ok))
        message.content = Array("hello".utf8)
        if component.isOfTrailer {
            message.trailers[.contentDigest] = digest
        } else {
            message.headerFields[.contentDigest] = digest
        }
        try Self.sign(&message, [.status, component])
        #expect(try verifier([component]).verify(message, at: Self.now).components.contains(component))
        message.content = Array("hallo".utf8)
        let error = #expect(throws: MessageSignatureError.self) {
            try verifier([.status]).verify(message, at: Self.now)
        }
        #expect(error?.code == .wrongDigest)
    }

    /// A digest of an algorithm that nobody here knows proves nothing.
    @Test func unknownDigest() throws {
        var message = SignableMessage(ResponseHead(status: .ok, headerFields: [.contentDigest: "md5=:AAAA:"]))
        message.content = Array("hello".utf8)
        try Self.sign(&message, [.contentDigest.member("md5")])
        let error = #expect(throws: MessageSignatureError.self) {
            try verifier([]).verify(message, at: Self.now)
        }
        #expect(error?.code == .wrongDigest)
    }

    /// A client computes the digest for every form that a signature covers.
    @Test(
        arguments: [
            .contentDigest, .contentDigest.structured, .contentDigest.member("sha-256"),
        ] as [SignatureComponent])
    func signedDigests(component: SignatureComponent) throws {
        let (client, transport) = client(
            .messageSignature(key: Self.key, keyID: "k", components: [.method, component]))
        try run(client.post("/x", .text("hello")))
        let request = try #require(transport.requests.first)
        #expect(request.headerFields[.contentDigest]?.hasPrefix("sha-256=:") == true)
        #expect(throws: Never.self) {
            try verifier([component]).verify(SignableMessage(request), at: clock.date)
        }
    }

    /// A signature may be in the trailer, where it can cover what is known at the end only; a signature in the header
    /// takes precedence, so that nobody can replace it by one behind the content.
    @Test func signedAtEnd() throws {
        let name = HTTPField.Name("X-Count")!
        var message = SignableMessage(ResponseHead(status: .ok))
        message.trailers[name] = "7"
        let covered: [SignatureComponent] = [.status, .field(name).ofTrailer]
        try Self.sign(&message, covered, atEnd: true)
        #expect(try verifier(covered).verify(message, at: Self.now).components == covered)
        var changed = message
        changed.trailers[name] = "8"
        #expect(throws: MessageSignatureError.self) { try verifier(covered).verify(changed, at: Self.now) }
        // The field in the header is another component.
        changed = message
        changed.headerFields[name] = "7"
        changed.trailers[name] = nil
        #expect(throws: MessageSignatureError.self) { try verifier(covered).verify(changed, at: Self.now) }
        changed = message
        changed.headerFields[.signature] = "sig1=:AAAA:"
        let error = #expect(throws: MessageSignatureError.self) {
            try verifier(covered).verify(changed, at: Self.now)
        }
        #expect(error?.code == .missing)
    }

    private static func sign(
        _ message: inout SignableMessage, _ components: [SignatureComponent], atEnd: Bool = false
    ) throws {
        let recipe = MessageSigner.Recipe(components: components, key: key, keyID: "k")
        let fields = try MessageSigner([recipe]).signatures(of: message, at: now)
        if atEnd {
            message.trailers[.signatureInput] = fields.input
            message.trailers[.signature] = fields.signature
        } else {
            message.headerFields[.signatureInput] = fields.input
            message.headerFields[.signature] = fields.signature
        }
    }

    /// Several signatures stand side by side, and one that is there already stays.
    @Test func several() throws {
        let other = MessageSigningKey.generated()
        let signer = MessageSigner([
            MessageSigner.Recipe(label: "a", components: [.method], key: other),
            MessageSigner.Recipe(label: "b", key: Self.key, keyID: "k"),
        ])
        let (client, transport) = client(signer)
        let fields: Headers = ["Signature-Input": "old=()", "Signature": "old=:AAAA:"]
        try run(client.get("/x", headers: fields))
        let message = SignableMessage(try #require(transport.requests.first))
        #expect(message.headerFields[.signatureInput]?.hasPrefix(#"old=(), a=("@method");created="#) == true)
        #expect(try verifier().verify(message, at: clock.date).label == "b")
        let only = verifier([], { $0.label = "a" })
        #expect(throws: MessageSignatureError.self) { try only.verify(message, at: clock.date) }
        try run(client.get("/x", headers: ["Signature-Input": "a=()", "Signature": "a=:AAAA:"]))
        #expect(transport.requests.count == 1, "a label is not used twice")
    }

    /// A request that cannot be signed fails before anything is sent.
    @Test func refusals() throws {
        let cases: [(MessageSigner.Recipe, Body)] = [
            (.init(components: ["x-absent"], key: Self.key), .empty),
            (.init(components: [.status], key: Self.key), .empty),
            (.init(components: ["@unknown"], key: Self.key), .empty),
            (.init(components: [.method, .method], key: Self.key), .empty),
            (.init(label: "Sig 1", key: Self.key), .empty), (.init(key: Self.key, keyID: "ä"), .empty),
            (.init(key: Self.key), .stream(.just([1]))),
        ]
        for (recipe, body) in cases {
            let (client, transport) = client(MessageSigner([recipe]))
            #expect(try run(client.put("/x", .body(body))).failure?.code == .invalidConfiguration)
            #expect(transport.requests.isEmpty)
        }
    }

    /// Each reason to refuse a signature has its code.
    @Test func reasons() throws {
        typealias Case = (
            MessageSignatureError.Code, MessageVerifier, (inout SignableMessage) -> Void, TimeInterval
        )
        let hmac = try MessageSigningKey.hmacSHA256([UInt8](repeating: 1, count: 32))
        let signer = MessageSigner([
            MessageSigner.Recipe(
                components: [.method, .authority, .contentDigest], key: Self.key, keyID: "k",
                lifetime: .seconds(100))
        ])
        let cases: [Case] = [
            (.missing, verifier(), { $0.headerFields[.signature] = nil }, 0),
            (.missing, verifier([], { $0.tag = "other" }), { _ in }, 0),
            (.missing, verifier([], { $0.label = "other" }), { _ in }, 0),
            (.malformed, verifier(), { $0.headerFields[.signature] = "sig1=((" }, 0),
            (.malformed, verifier(), { $0.headerFields[.signature] = "sig1=7" }, 0),
            (.malformed, verifier(), { $0.headerFields[.signature] = "other=:AAAA:" }, 0),
            (
                .malformed, verifier(),
                { $0.headerFields[.signatureInput] = String(repeating: "a", count: 9000) }, 0
            ),
            (
                .malformed, verifier(),
                { $0.headerFields[.signatureInput] = (0..<17).map { "s\($0)=()" }.joined(separator: ",") }, 0
            ),
            (.insufficient, verifier(["date"]), { _ in }, 0),
            (.insufficient, verifier([.path.ifPresent]), { _ in }, 0),
            (.unknownKey, MessageVerifier(verifier().policy) { _ in nil }, { _ in }, 0),
            (.wrongAlgorithm, verifier([], { $0.algorithms = [.hmacSHA256] }), { _ in }, 0),
            (.missingComponent, verifier(), { $0.headerFields[.contentDigest] = nil }, 0),
            (.expired, verifier(), { _ in }, 131), (.notYetValid, verifier(), { _ in }, -31),
            (.expired, verifier([], { $0.maxAge = .seconds(10) }), { _ in }, 41),
            (.invalid, MessageVerifier(verifier().policy) { _ in hmac.verifyingKey }, { _ in }, 0),
            (.invalid, verifier(), { $0.headerFields[.contentDigest] = "sha-256=:AAAA:" }, 0),
            (.wrongDigest, verifier(), { $0.content = [1] }, 0),
        ]
        var request = Request(
            method: .post, url: try #require(URL(string: "https://a.test/x")), body: .text("hello"))
        request.headerFields[.contentDigest] = ContentDigest(of: Array("hello".utf8)).fieldValue
        var message = SignableMessage(request)
        let fields = try signer.signatures(of: message, at: Self.now)
        message.headerFields[.signatureInput] = fields.input
        message.headerFields[.signature] = fields.signature
        for time in [-30, 0, 130] as [TimeInterval] {
            try verifier().verify(message, at: Self.now.addingTimeInterval(time))
        }
        for (index, (code, verifier, change, time)) in cases.enumerated() {
            var changed = message
            change(&changed)
            do throws(MessageSignatureError) {
                try verifier.verify(changed, at: Self.now.addingTimeInterval(time))
                Issue.record("case \(index) is accepted")
            } catch { #expect(error.code == code, "case \(index): \(error)") }
        }
    }

    /// A signature cannot name an algorithm of its choice.
    @Test func confusion() throws {
        // The public key as the secret of an HMAC, the classical confusion.
        let publicKey = try MessageVerifyingKey.pem(MessageSignatureTests.p256Public)
        let signer = MessageSigner([
            MessageSigner.Recipe(
                components: [.method], key: try .hmacSHA256(Array(MessageSignatureTests.p256Public.utf8)),
                namesAlgorithm: true)
        ])
        var message = SignableMessage(.get, "https://a.test/", headerFields: [:])
        let fields = try signer.signatures(of: message, at: Self.now)
        message.headerFields[.signatureInput] = fields.input
        message.headerFields[.signature] = fields.signature
        let verifier = MessageVerifier(.init(requiring: [.method])) { _ in publicKey }
        #expect(throws: MessageSignatureError.self) { try verifier.verify(message, at: Self.now) }
    }

    /// Web Bot Auth covers host and agent, names the key by its thumbprint, and expires.
    @Test func webBot() throws {
        let key = try MessageSigningKey.pem(MessageSignatureTests.ed25519)
        let thumbprint = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
        #expect(key.verifyingKey.thumbprint == thumbprint)
        let signer = try MessageSigner.webBot(key: key, agent: "https://bot.example.com")
        let (client, transport) = client(signer)
        try run(client.get("/x"))
        let sent = try #require(transport.requests.first)
        #expect(sent.headerFields[.signatureAgent] == #""https://bot.example.com""#)
        let input = try #require(sent.headerFields[.signatureInput])
        #expect(input.hasPrefix(#"sig1=("@authority" "signature-agent");created="#))
        #expect(input.contains(#";keyid="\#(thumbprint)";tag="web-bot-auth""#))
        let verifier = MessageVerifier(.webBot) { $0.keyID == thumbprint ? key.verifyingKey : nil }
        let verified = try verifier.verify(SignableMessage(sent), at: clock.date)
        #expect(verified.parameters.algorithm == "ed25519")
        #expect(throws: MessageSignatureError.self) {
            try verifier.verify(SignableMessage(sent), at: clock.date.addingTimeInterval(100))
        }
        #expect(throws: NetworkError.self) {
            try MessageSigner.webBot(key: .hmacSHA256([UInt8](repeating: 1, count: 32)))
        }
        #expect(throws: NetworkError.self) {
            try MessageSigner.webBot(key: key, agent: "http://bot.example.com")
        }
    }

    /// A digest that must be covered is that of no bytes, for a request without content.
    @Test func digestOfNothing() throws {
        let (client, transport) = client(
            MessageSigner([
                .init(components: [.method, .contentDigest], key: try .pem(MessageSignatureTests.ed25519)),
                .init(
                    label: "sig2", components: [.method, .contentDigest.ifPresent],
                    key: try .pem(MessageSignatureTests.ed25519)),
            ]))
        try run(client.get("/x"))
        let sent = try #require(transport.requests.first)
        #expect(sent.headerFields[.contentDigest] == ContentDigest(of: []).fieldValue)
        let key = try MessageSigningKey.pem(MessageSignatureTests.ed25519).verifyingKey
        let verifier = MessageVerifier(.init(requiring: [.contentDigest])) { _ in key }
        var message = SignableMessage(sent)
        message.content = []
        #expect(try verifier.verify(message, at: clock.date).components.contains(.contentDigest))
        message.content = [1]
        #expect(throws: MessageSignatureError.self) { try verifier.verify(message, at: clock.date) }
    }

    /// Content that somebody adds to a message signed without content is refused.
    @Test func addedContent() throws {
        let (client, transport) = client(.messageSignature(key: Self.key, keyID: "k"))
        try run(client.delete("/x"))
        var message = SignableMessage(try #require(transport.requests.first))
        let verifier = verifier(MessageSigner.standardComponents)
        #expect(message.content == [])
        try verifier.verify(message, at: clock.date)
        message.content = Array("all=true".utf8)
        let error = #expect(throws: MessageSignatureError.self) {
            try verifier.verify(message, at: clock.date)
        }
        #expect(error?.code == .insufficient && error?.message.contains("content-digest") == true)
        // A verifier that does not know the content cannot tell.
        message.content = nil
        try verifier.verify(message, at: clock.date)
    }

    /// Cookies are one line, whose parts a semicolon separates (RFC 9113 §8.2.3), however they are stored.
    @Test(arguments: [SignatureComponent.field(.cookie), .field(.cookie).bytes])
    func cookies(component: SignatureComponent) throws {
        var request = Request(url: try #require(URL(string: "https://a.test/")))
        request.headerFields[.cookie] = "a=1; b=2"
        #expect(request.headerFields.count == 2)
        let value = component.modifiers.isEmpty ? "a=1; b=2" : ":YT0xOyBiPTI=:"
        #expect(SignableMessage(request).value(of: component, [:]) == value)
    }

    /// A digest in any form that is signed covers the content, also where the policy names others.
    @Test func eitherDigest() throws {
        let members = ["sha-256", "sha-512"].map { SignatureComponent.contentDigest.member($0) }
        let (client, transport) = client(
            .messageSignature(key: Self.key, keyID: "k", components: [.method, members[0]]))
        try run(client.post("/x", .text("hello")))
        let message = SignableMessage(try #require(transport.requests.first))
        #expect(message.content?.isEmpty == false)
        try verifier([.method] + members.map(\.ifPresent)).verify(message, at: clock.date)
    }

    /// An agent that is named and not signed is refused: anybody can have added it.
    @Test(
        arguments: [
            ([.authority, "signature-agent"], true), ([.authority], false),
            ([.authority, SignatureComponent("signature-agent").structured], true),
            ([.authority, SignatureComponent("signature-agent").bytes], true),
        ] as [([SignatureComponent], Bool)])
    func webBotAgent(components: [SignatureComponent], isGood: Bool) throws {
        let key = try MessageSigningKey.pem(MessageSignatureTests.ed25519)
        let signer = MessageSigner([
            .init(components: components, key: key, lifetime: .seconds(60), tag: "web-bot-auth")
        ])
        let verifier = MessageVerifier(.webBot) { _ in key.verifyingKey }
        var message = SignableMessage(
            .get, "https://a.test/", headerFields: [.signatureAgent: #""https://bot.example.com""#])
        let fields = try signer.signatures(of: message, at: Self.now)
        message.headerFields[.signatureInput] = fields.input
        message.headerFields[.signature] = fields.signature
        let result = Result { () throws(MessageSignatureError) in
            try verifier.verify(message, at: Self.now)
        }
        switch result {
        case .success: #expect(isGood)
        case .failure(let error):
            #expect(!isGood && error.code == .insufficient && error.message.contains("signature-agent"))
        }
    }

    /// The agents of several signatures are members of a dictionary; each signature covers its own.
    @Test(arguments: [("sig1", true), ("other", false)])
    func webBotAgents(member: String, isGood: Bool) throws {
        let key = try MessageSigningKey.pem(MessageSignatureTests.ed25519)
        let signer = MessageSigner([
            .init(
                components: [.authority, SignatureComponent("signature-agent").member(member)], key: key,
                lifetime: .seconds(60), tag: "web-bot-auth")
        ])
        let kinds = [HTTPField.Name.signatureAgent: StructuredFieldKind.dictionary]
        var message = SignableMessage(
            .get, "https://a.test/",
            headerFields: [.signatureAgent: #"sig1="https://bot.example.com", other="https://b.example.com""#]
        )
        var own = signer
        own.structuredFields = kinds
        let fields = try own.signatures(of: message, at: Self.now)
        message.headerFields[.signatureInput] = fields.input
        message.headerFields[.signature] = fields.signature
        var verifier = MessageVerifier(.webBot) { _ in key.verifyingKey }
        verifier.structuredFields = kinds
        if isGood {
            #expect(try verifier.verify(message, at: Self.now).label == "sig1")
        } else {
            #expect(throws: MessageSignatureError.self) { try verifier.verify(message, at: Self.now) }
        }
    }

    /// Digests of content are read, and compared.
    @Test func digests() throws {
        let content = Array("hello".utf8)
        let both = ContentDigest(of: content, [.sha256, .sha512])
        let read = try #require(ContentDigest(field: both.fieldValue + ", unixsum=30637"))
        #expect(read == both && read.matches(content) && !read.matches([]))
        #expect(ContentDigest(field: "unixsum=1").map { $0.matches(content) } == false)
        for text in [
            "sha-256=1", "sha-256=(", "sha-256=:####:", "sha-256=:A:", String(repeating: "a,", count: 5000),
        ] {
            #expect(ContentDigest(field: text)?.digests.isEmpty ?? true)
        }
        #expect(
            RunningContentDigest([.sha512]).adding(content).result == ContentDigest(of: content, [.sha512]))
    }
}
#endif
