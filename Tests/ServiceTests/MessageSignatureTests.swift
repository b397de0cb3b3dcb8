#if Auth
import Foundation
import HTTPTypes
import RxAuth
import RxHTTP
import TestServers
import Testing

/// Message signatures between this library and http-message-signatures, in both directions.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct MessageSignatureTests {
    /// A request as the other implementation reads it.
    private struct Case: Encodable {
        var method: String
        var url: String
        var fields: [[String]]
        var body: String
        var algorithm: String
        var `public`: String
        var `private`: String
        var components: [String]
    }

    private struct Answer: Decodable {
        var labels: [String]?
        var fields: [[String]]?
    }

    /// A key in both implementations.
    private struct Pair {
        let algorithm: MessageSignatureAlgorithm
        let privateText: String
        let publicText: String

        var signing: MessageSigningKey {
            get throws {
                guard algorithm == .hmacSHA256 else { return try .pem(privateText) }
                return try .hmacSHA256(Array(#require(Data(base64Encoded: privateText))))
            }
        }
    }

    /// The keys of RFC 9421, Appendix B.1.
    private static let pairs = [
        Pair(
            algorithm: .ed25519,
            privateText: """
                -----BEGIN PRIVATE KEY-----
                MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
                -----END PRIVATE KEY-----
                """,
            publicText: """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
                -----END PUBLIC KEY-----
                """),
        Pair(
            algorithm: .ecdsaP256SHA256,
            privateText: """
                -----BEGIN EC PRIVATE KEY-----
                MHcCAQEEIFKbhfNZfpDsW43+0+JjUr9K+bTeuxopu653+hBaXGA7oAoGCCqGSM49
                AwEHoUQDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4FivAxzic30tMM
                4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
                -----END EC PRIVATE KEY-----
                """,
            publicText: """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
                w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
                -----END PUBLIC KEY-----
                """),
        Pair(
            algorithm: .hmacSHA256,
            privateText:
                "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
            publicText:
                "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="),
    ]

    /// URLs and components, as both write them.
    private static let requests: [(url: String, components: [SignatureComponent], texts: [String])] = [
        (
            "https://example.com/foo?param=Value&Pet=dog", [.method, .authority, .targetURI],
            ["@method", "@authority", "@target-uri"]
        ),
        (
            "https://example.com:8443/a%20b?x=%C3%A4+y&z=",
            [.authority, .path, .query, .query("x"), "x-data"],
            ["@authority", "@path", "@query", #""@query-param";name="x""#, "x-data"]
        ),
        (
            "http://example.com/", [.scheme, .requestTarget, .contentDigest.ifPresent],
            ["@scheme", "@request-target"]
        ),
    ]

    private func answers(to cases: [Case]) async throws -> [Answer] {
        let folder = try TemporaryFolder()
        let lines = try cases.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: URL(filePath: folder.file("cases.jsonl")))
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Services/messages.py").path
        let peer = try ChildProcess(
            #require(Service.programs) + "/python", [script, folder.file("cases.jsonl")])
        var answers: [Answer] = []
        while let line = try await peer.nextLine() {
            answers.append(try JSONDecoder().decode(Answer.self, from: Data(line.utf8)))
        }
        return answers
    }

    private func cases(_ change: (inout Case, Pair, [SignatureComponent]) throws -> Void) throws -> [Case] {
        try Self.pairs.flatMap { pair in
            try Self.requests.flatMap { url, components, texts in
                try ["", "hello"].map { body in
                    var test = Case(
                        method: "POST", url: url, fields: [["X-Data", "a, b"]],
                        body: Data(body.utf8).base64EncodedString(), algorithm: pair.algorithm.rawValue,
                        public: pair.publicText, private: pair.privateText, components: texts)
                    try change(&test, pair, components)
                    return test
                }
            }
        }
    }

    private func message(_ test: Case) throws -> SignableMessage {
        var fields: HTTPFields = [:]
        for field in test.fields { fields[try #require(HTTPField.Name(field[0]))] = field[1] }
        return SignableMessage(
            .post, test.url, headerFields: fields,
            content: Array(try #require(Data(base64Encoded: test.body))))
    }

    /// The other implementation verifies what is signed here.
    @Test func signedHere() async throws {
        let cases = try cases { test, pair, components in
            let content = Array(try #require(Data(base64Encoded: test.body)))
            test.fields.append(["Content-Digest", ContentDigest(of: content).fieldValue])
            var covered = components.filter { $0 != .contentDigest }
            covered.append(.contentDigest)
            let signer = MessageSigner([
                MessageSigner.Recipe(
                    components: covered, key: try pair.signing, keyID: "k", namesAlgorithm: true)
            ])
            let fields = try signer.signatures(of: try message(test), at: Date())
            test.fields += [["Signature-Input", fields.input], ["Signature", fields.signature]]
        }
        let answers = try await answers(to: cases)
        #expect(answers.map(\.labels) == [[String]?](repeating: ["sig1"], count: cases.count))
    }

    /// What the other implementation signs is verified here.
    @Test func signedThere() async throws {
        let cases = try cases { _, _, _ in }
        let answers = try await answers(to: cases)
        try #require(answers.count == cases.count)
        for (var test, answer) in zip(cases, answers) {
            test.fields += try #require(answer.fields)
            let pair = try #require(Self.pairs.first { $0.algorithm.rawValue == test.algorithm })
            let key = try pair.signing.verifyingKey
            let verifier = MessageVerifier(.init(requiring: [.contentDigest])) { $0.keyID == "k" ? key : nil }
            let verified = try verifier.verify(try message(test), at: Date())
            #expect(verified.label == "sig2" && verified.components.count == test.components.count + 1)
        }
    }
}
#endif
