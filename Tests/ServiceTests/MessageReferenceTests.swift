#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxAuth

/// HTTP message signatures, verified and made by http-message-signatures, whose fields http-sf reads.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct MessageReferenceTests {
    private struct KeyPair: Codable, Sendable {
        let `private`: String
        let `public`: String
    }

    /// A message for the script: a request, or the response to one.
    private final class Case: Encodable, Sendable {
        let algorithm: String
        let `private`: String
        let `public`: String
        let label: String
        let method: String?
        let url: String?
        let fields: [SigningReference.Field]
        let trailers: [SigningReference.Field]
        let status: Int?
        let request: Case?
        let components: [String]
        let namesAlgorithm: Bool
        let tag: String?
        let nonce: String?
        let body: String?

        init(
            _ algorithm: String, _ keys: KeyPair, label: String, method: String? = nil, url: String? = nil,
            fields: [SigningReference.Field], trailers: [SigningReference.Field] = [], status: Int? = nil,
            request: Case? = nil, components: [String] = [], namesAlgorithm: Bool = false, tag: String? = nil,
            nonce: String? = nil,
            body: [UInt8]? = nil
        ) {
            self.algorithm = algorithm
            self.private = keys.private
            self.public = keys.public
            self.label = label
            self.method = method
            self.url = url
            self.fields = fields
            self.trailers = trailers
            self.status = status
            self.request = request
            self.components = components
            self.namesAlgorithm = namesAlgorithm
            self.tag = tag
            self.nonce = nonce
            self.body = body.map { Data($0).base64EncodedString() }
        }
    }

    private struct Verdict: Decodable, Sendable {
        let covered: [String]?
        let error: String?
        /// The error of the package alone, which has no trailers, for a message with one.
        let withoutTrailer: String?
        let serialized: [String: String]
    }

    /// Keys by their algorithms, as this project reads them and as the script does.
    private struct Keys: Sendable {
        let name: String
        let pair: KeyPair
        let signing: MessageSigningKey
        let verifying: MessageVerifyingKey

        static func all() async throws -> [Keys] {
            let pairs: [String: KeyPair] = try await SigningReference.run("keys", [String]())
            try #require(pairs.count == 5)
            return try pairs.sorted { $0.key < $1.key }.map { name, pair in
                guard name != "hmac-sha256" else {
                    let key = try MessageSigningKey.hmacSHA256(Array(pair.private.utf8))
                    return Keys(name: name, pair: pair, signing: key, verifying: key.verifyingKey)
                }
                return Keys(
                    name: name, pair: pair, signing: try .pem(pair.private), verifying: try .pem(pair.public))
            }
        }
    }

    private static let count = 40

    /// A request with the fields that the components need.
    private static func request(_ random: inout SeededRandom, withBody: Bool) throws -> Request {
        func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        let target = pick([
            "/", "/a%20b/c;d=1", "/x//y/", "/%C3%A4?page=2&q=a%20b", "/?page=", "/x?page=7&%E2%82%AC=1&e=",
        ])
        let url = pick(["https://API.example.com", "https://a.test:443", "http://a.test:8080"]) + target
        var request = Request(
            method: withBody ? pick([.post, .put, .patch]) : pick([.get, .delete]),
            url: try #require(URL(string: url)),
            headerFields: [
                .priority: pick(["u=1, i", "u=5,   i=?0", "i,u=0"]), .contentType: "text/plain",
                .accept: pick(["*/*", "text/html;q=0.9,  text/plain"]),
                .date: "Tue, 14 Nov 2023 22:13:20 GMT",
            ])
        if withBody {
            let bytes = (0..<Int.random(in: 1...100, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            request.body = .bytes(bytes)
        }
        return request
    }

    private static func fields(_ fields: HTTPFields) -> [SigningReference.Field] {
        fields.map { .init($0.name.rawName, $0.value) }
    }

    private static let requestComponents: [SignatureComponent] = [
        .method, .targetURI, .authority, .scheme, .requestTarget, .path, .query, "accept", "date",
        .field(.contentType), .field(.priority).structured, .field(.priority).member("u"),
        .field(.accept).bytes,
    ]

    private static func some<Value>(_ values: [Value], _ random: inout SeededRandom) -> [Value] {
        values.shuffled(using: &random).prefix(Int.random(in: 1...values.count, using: &random)).map { $0 }
    }

    /// The signatures of this project are valid for the other one, which covers the same components; its fields have the one
    /// serialization.
    @Test func signedHere() async throws {
        var random = SeededRandom(5)
        let transport = Client(baseURL: "http://127.0.0.1").transport
        var cases: [Case] = [], covered: [[String]] = []
        for keys in try await Keys.all() {
            for index in 0..<Self.count {
                let request = try Self.request(&random, withBody: index % 2 == 0)
                var components = Self.some(Self.requestComponents, &random)
                if request.urlText.contains("page=") { components.append(.query("page")) }
                if index % 2 == 0 { components.append(.contentDigest) }
                let signer = MessageSigner(
                    [
                        MessageSigner.Recipe(
                            label: "sig-\(index)", components: components, key: keys.signing,
                            keyID: keys.name,
                            lifetime: .seconds(60), hasNonce: index % 3 == 0, namesAlgorithm: index % 4 == 0,
                            tag: index % 5 == 0 ? "a \"tag\"" : nil)
                    ], digests: index % 4 == 0 ? [.sha256, .sha512] : [.sha256])
                let context = SigningContext(
                    date: Date(), scheduler: transport.scheduler, transport: transport)
                let signed = try await signer.sign(request, in: context).value()
                guard index % 8 == 7 else {
                    cases.append(
                        Case(
                            keys.name, keys.pair, label: "sig-\(index)", method: signed.method.rawValue,
                            url: signed.urlText, fields: Self.fields(signed.headerFields)))
                    covered.append(components.map(\.description))
                    continue
                }
                let (response, own) = try Self.response(to: signed, by: keys, label: "sig-\(index)")
                cases.append(response)
                covered.append(own)
            }
        }
        let verdicts: [Verdict] = try await SigningReference.run("verify", cases)
        try #require(verdicts.count == cases.count)
        for (index, verdict) in verdicts.enumerated() {
            #expect(verdict.error == nil, "\(cases[index].algorithm) \(covered[index])")
            #expect((verdict.withoutTrailer != nil) == (cases[index].status != nil))
            #expect(verdict.covered.map { Set($0) } == Set(covered[index] + ["\"@signature-params\""]))
            for (name, text) in verdict.serialized { #expect(text == cases[index].fields[name]) }
        }
    }

    private static let countField = HTTPField.Name("X-Count")!
    private static let trailers: HTTPFields = [
        countField: "7", .priority: "u=5,   i=?0",
        .contentDigest: ContentDigest(of: Array("hello".utf8)).fieldValue,
    ]
    private static let trailing: [SignatureComponent] = [
        .field(countField).ofTrailer, .field(.priority).structured.ofTrailer,
        .field(.priority).ofTrailer.member("u"), .contentDigest.ofTrailer,
    ]

    /// A signed response, whose signature covers parts of its request, and its trailer.
    private static func response(
        to request: Request, by keys: Keys, label: String
    ) throws -> (Case, covered: [String]) {
        let components: [SignatureComponent] =
            [
                .status, "content-type", .method.ofRequest, .path.ofRequest,
                .field(.priority).member("u").ofRequest, .field(.signature).member(label).ofRequest,
            ] + trailing
        let recipe = MessageSigner.Recipe(
            label: label, components: components, key: keys.signing, keyID: keys.name)
        var headerFields: HTTPFields = [.contentType: "text/plain"]
        var message = SignableMessage(
            ResponseHead(status: .created, headerFields: headerFields), to: request)
        message.trailers = trailers
        let fields = try MessageSigner([recipe]).signatures(of: message, at: Date())
        headerFields[.signatureInput] = fields.input
        headerFields[.signature] = fields.signature
        let inner = Case(
            keys.name, keys.pair, label: label, method: request.method.rawValue, url: request.urlText,
            fields: Self.fields(request.headerFields))
        return (
            Case(
                keys.name, keys.pair, label: label, fields: Self.fields(headerFields),
                trailers: Self.fields(trailers), status: 201, request: inner), components.map(\.description)
        )
    }

    /// The signatures of the other project are valid here, and are not if anything that they cover changes.
    @Test func signedThere() async throws {
        var random = SeededRandom(6)
        var cases: [Case] = [], keysOfCases: [Keys] = [], bodies: [[UInt8]?] = []
        for keys in try await Keys.all() {
            for index in 0..<Self.count {
                let request = try Self.request(&random, withBody: index % 2 == 0)
                var components = Self.some(Self.requestComponents, &random)
                if request.urlText.contains("page=") { components.append(.query("page")) }
                var body: [UInt8]?
                if case .bytes(let bytes) = request.body { body = bytes }
                cases.append(
                    Case(
                        keys.name, keys.pair, label: "sig\(index)", method: request.method.rawValue,
                        url: request.urlText, fields: Self.fields(request.headerFields),
                        components: components.map(\.description), namesAlgorithm: index % 4 == 0,
                        tag: index % 5 == 0 ? "a \"tag\"" : nil, nonce: index % 3 == 0 ? "n\(index)" : nil,
                        body: body))
                keysOfCases.append(keys)
                bodies.append(body)
            }
        }
        let answers: [[SigningReference.Field]] = try await SigningReference.run("sign", cases)
        try #require(answers.count == cases.count)
        for (index, answer) in answers.enumerated() {
            let (test, keys) = (cases[index], keysOfCases[index])
            var fields = HTTPFields()
            for field in answer { fields[try #require(HTTPField.Name(field.name))] = field.value }
            let method = try #require(test.method.flatMap { HTTPRequest.Method($0) })
            let message = SignableMessage(
                method, try #require(test.url), headerFields: fields, content: bodies[index])
            var policy = MessageVerifier.Policy(requiring: [], tag: test.tag, label: test.label)
            if bodies[index] != nil { policy.requiredComponents = [.contentDigest] }
            let verifier = MessageVerifier(policy) { $0.keyID == keys.name ? keys.verifying : nil }
            let found = try verifier.verify(message)
            #expect(Set(found.components.map(\.description)).isSuperset(of: test.components))
            #expect(found.parameters.nonce == test.nonce)

            var changed = message
            if let body = bodies[index] {
                changed.content = body + [0]
                #expect(throws: MessageSignatureError.self) { try verifier.verify(changed) }
            }
            for component in found.components where !component.name.hasPrefix("@") {
                guard let name = HTTPField.Name(component.name) else { continue }
                changed = message
                changed.headerFields[name] = name == .priority ? "u=7" : "text/changed"
                #expect(throws: MessageSignatureError.self, "\(component)") { try verifier.verify(changed) }
            }
        }
    }

    /// Fields of trailers that the other project has signed are valid here, and are not if they change or move.
    @Test func trailersSignedThere() async throws {
        let keys = try await Keys.all()
        let cases = keys.map { keys in
            Case(
                keys.name, keys.pair, label: "end", fields: [], trailers: Self.fields(Self.trailers),
                status: 200, components: (["@status"] + Self.trailing).map(\.description))
        }
        let answers: [[SigningReference.Field]] = try await SigningReference.run("sign", cases)
        try #require(answers.count == cases.count)
        for (answer, keys) in zip(answers, keys) {
            var message = SignableMessage(ResponseHead(status: .ok))
            for field in answer {
                message.headerFields[try #require(HTTPField.Name(field.name))] = field.value
            }
            message.trailers = Self.trailers
            message.content = Array("hello".utf8)
            let verifier = MessageVerifier(.init(requiring: Self.trailing)) { _ in keys.verifying }
            #expect(try verifier.verify(message).components.count == 1 + Self.trailing.count)
            for name in [Self.countField, .priority, .contentDigest] {
                var changed = message
                changed.trailers[name] = name == .priority ? "u=7" : "8"
                #expect(throws: MessageSignatureError.self) { try verifier.verify(changed) }
                changed = message
                changed.headerFields[name] = changed.trailers[name]
                changed.trailers[name] = nil
                #expect(throws: MessageSignatureError.self) { try verifier.verify(changed) }
            }
            message.content = Array("hallo".utf8)
            #expect(throws: MessageSignatureError.self) { try verifier.verify(message) }
        }
    }
}
#endif
