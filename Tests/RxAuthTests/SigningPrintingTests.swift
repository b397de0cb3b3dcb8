#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@testable import RxAuth

/// The types with keys and secrets, and every way to print them.
@Suite struct SigningPrintingTests {
    private static let canary = "cAnArY7cAnArY7cAnArY7"
    private static let bytes = Array(canary.utf8)

    private static func values() throws -> [(name: String, value: any Sendable)] {
        let credential = AWSCredential(
            accessKeyID: canary, secretAccessKey: canary, sessionToken: canary,
            expires: Date(timeIntervalSince1970: 0))
        let credentials = AWSCredentials.fixed(credential)
        let key = try MessageSigningKey.hmacSHA256(bytes)
        let recipe = MessageSigner.Recipe(key: key)
        let url = try #require(URL(string: "https://a.test/?token=\(canary)"))
        let request = Request(
            method: .post, url: url, headerFields: [.authorization: canary], body: .bytes(bytes))
        var profiles = AWSProfiles()
        profiles.add(Array("[default]\naws_secret_access_key=\(canary)\n".utf8), isConfig: false)
        return [
            ("AWSCredential", credential), ("AWSCredentials", credentials), ("AWSProfiles", profiles),
            ("AWSSigner", AWSSigner(service: "s3", region: "eu-west-1", credentials: credentials)),
            ("MessageSigningKey", key), ("MessageVerifyingKey", key.verifyingKey),
            ("MessageSigner", MessageSigner([recipe])), ("MessageSigner.Recipe", recipe),
            ("MessageVerifier", MessageVerifier(.init(requiring: [.method])) { _ in key.verifyingKey }),
            ("SignableMessage", SignableMessage(request)),
            ("WebhookVerifier", try WebhookVerifier.stripe(secret: canary)),
        ]
    }

    /// No printed text shows a secret, neither as text nor as bytes.
    @Test func noSecret() throws {
        let numbers = Self.bytes.map { "\($0)" }.joined(separator: ", ")
        let lines = Self.bytes.map { "- \($0)\n" }
        for (name, value) in try Self.values() {
            var dumped = ""
            dump(value, to: &dumped)
            var texts = ["\(value)", String(reflecting: value), String(describing: [value]), dumped]
            for child in Mirror(reflecting: value).children {
                texts += ["\(child.label ?? "") \(child.value)", String(reflecting: child.value)]
            }
            for text in texts {
                #expect(!text.isEmpty && !text.contains("cAnArY7"), "\(name): \(text)")
                #expect(!text.contains(numbers), "\(name): \(text)")
                #expect(!lines.allSatisfy { text.contains($0) }, "\(name): \(text)")
            }
        }
    }
}
#endif
