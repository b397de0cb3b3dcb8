#if Auth
import FoundationEssentials
import HTTPTypes
import Testing

@testable import RxAuth

/// Webhooks of services, with examples that they publish.
@Suite struct WebhookTests {
    private func fields(_ values: [(String, String)]) -> HTTPFields {
        var fields: HTTPFields = [:]
        for (name, value) in values { fields.append(HTTPField(name: HTTPField.Name(name)!, value: value)) }
        return fields
    }

    private func reason(
        _ verifier: WebhookVerifier, _ content: String, _ values: [(String, String)], at seconds: Double
    ) -> WebhookError? {
        do throws(WebhookError) {
            try verifier.verify(
                Array(content.utf8), headerFields: fields(values), at: Date(timeIntervalSince1970: seconds))
            return nil
        } catch { return error }
    }

    private static let standard = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let standardContent = #"{"test": 2432232314}"#

    private func standardFields(
        _ prefix: String = "webhook-", time: String = "1614265330",
        _ signature: String = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    ) -> [(String, String)] {
        [
            (prefix + "id", "msg_p5jXN8AQM9LWM0D4loKWxJek"), (prefix + "timestamp", time),
            (prefix + "signature", signature),
        ]
    }

    /// The example of the specification.
    /// Standard Webhooks: several signatures, several secrets, and the tolerance of the clock.
    @Test func standardWebhooks() throws {
        let verifier = try WebhookVerifier.standard(secret: Self.standard)
        let valid = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        let message = try verifier.verify(
            Array(Self.standardContent.utf8), headerFields: fields(standardFields()),
            at: Date(timeIntervalSince1970: 1_614_265_331))
        #expect(message.id == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(message.date == Date(timeIntervalSince1970: 1_614_265_330))
        let rotated = try WebhookVerifier.standard(secrets: ["AAAA", String(Self.standard.dropFirst(6))])
        let cases: [(WebhookVerifier, [(String, String)], Double, WebhookError?)] = [
            (verifier, standardFields(), 1_614_265_630, nil),
            (verifier, standardFields(), 1_614_265_030, nil),
            (verifier, standardFields(), 1_614_265_631, .tooOld),
            (verifier, standardFields(), 1_614_265_029, .fromFuture),
            (verifier, standardFields("svix-"), 1_614_265_330, nil),
            (rotated, standardFields(), 1_614_265_330, nil),
            (verifier, standardFields("webhook-", "v1a,AAAA v1,AAAA \(valid)"), 1_614_265_330, nil),
            (verifier, standardFields("webhook-", "v1,AAAA"), 1_614_265_330, .invalid),
            (verifier, standardFields("webhook-", "v2,AAAA"), 1_614_265_330, .malformed),
            (verifier, standardFields("webhook-", ""), 1_614_265_330, .malformed),
            (verifier, standardFields(time: "1614265331"), 1_614_265_330, .invalid),
            (verifier, standardFields(time: "-1"), 1_614_265_330, .malformed),
            (verifier, standardFields(time: "99999999999999999999"), 1_614_265_330, .malformed),
            (try .standard(secret: "AAAA"), standardFields(), 1_614_265_330, .invalid),
            (verifier, [], 0, .missing),
        ]
        for (index, (verifier, values, time, error)) in cases.enumerated() {
            #expect(reason(verifier, Self.standardContent, values, at: time) == error, "case \(index)")
        }
        #expect(reason(verifier, Self.standardContent + " ", standardFields(), at: 1_614_265_330) == .invalid)
    }

    /// Stripe: the signature covers the time, and others of its kinds are skipped.
    @Test func stripe() throws {
        let verifier = try WebhookVerifier.stripe(secret: "whsec_test")
        let valid = "2f441ba4b3b2d50d28a9ab9d9fd8880376ecd1eb5d0435401553f5d8d0a5dcf8"
        let cases: [(String, Double, WebhookError?)] = [
            ("t=1700000000,v1=\(valid)", 1_700_000_000, nil),
            ("t=1700000000,v1=00,v0=11,v1=\(valid)", 1_700_000_300, nil),
            ("t=1700000000,v1=\(valid)", 1_700_000_301, .tooOld),
            ("t=1700000000,v1=\(valid)", 1_699_999_699, .fromFuture),
            ("t=1700000001,v1=\(valid)", 1_700_000_000, .invalid), ("v1=\(valid)", 1_700_000_000, .malformed),
            ("t=1700000000", 1_700_000_000, .malformed), ("t=x,v1=\(valid)", 1_700_000_000, .malformed),
            ("t=1700000000,v1=zz", 1_700_000_000, .malformed),
            ("t=1700000000,v1=00", 1_700_000_000, .invalid),
        ]
        for (text, time, error) in cases {
            #expect(
                reason(verifier, #"{"id":1}"#, [("Stripe-Signature", text)], at: time) == error, "\(text)")
        }
        #expect(reason(verifier, "", [], at: 0) == .missing)
    }

    /// The example of GitHub's documentation.
    /// GitHub: the signature covers the content.
    @Test func github() throws {
        let verifier = try WebhookVerifier.github(secrets: ["other", "It's a Secret to Everybody"])
        let valid = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        let name = "X-Hub-Signature-256"
        let message = try verifier.verify(
            Array("Hello, World!".utf8),
            headerFields: fields([(name, valid), ("X-GitHub-Delivery", "72d3162e")]))
        #expect(message.id == "72d3162e" && message.date == nil)
        #expect(reason(verifier, "Hello, World?", [(name, valid)], at: 0) == .invalid)
        #expect(reason(verifier, "Hello, World!", [(name, "sha1=00")], at: 0) == .malformed)
        #expect(reason(verifier, "Hello, World!", [(name, "sha256=0")], at: 0) == .malformed)
        #expect(reason(verifier, "Hello, World!", [("X-Hub-Signature", valid)], at: 0) == .missing)
    }

    /// Secrets that are none are refused.
    @Test func secrets() {
        #expect(throws: WebhookError.unusableSecret) { try WebhookVerifier.standard(secrets: []) }
        #expect(throws: WebhookError.unusableSecret) { try WebhookVerifier.standard(secret: "whsec_") }
        #expect(throws: WebhookError.unusableSecret) { try WebhookVerifier.standard(secret: "not base64!") }
        #expect(throws: WebhookError.unusableSecret) { try WebhookVerifier.stripe(secret: "") }
        #expect(throws: WebhookError.unusableSecret) { try WebhookVerifier.github(secrets: ["a", ""]) }
    }
}
#endif
