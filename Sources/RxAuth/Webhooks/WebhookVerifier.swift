#if Auth
import Crypto
public import FoundationEssentials
public import HTTPTypes
public import RxHTTP

/// Verifies that a webhook comes from the service that knows the secret, and is not an old one.
///
/// ```swift
/// let webhooks = try WebhookVerifier.standard(secret: "whsec_…")
/// let message = try webhooks.verify(body, headerFields: fields)
/// ```
///
/// Pass the content exactly as it was received. Signatures are compared in constant time. With several secrets, a message
/// signed by any of them is accepted, so that a secret can be replaced without a gap; a message may also have several
/// signatures. Errors contain nothing of secrets, signatures and content.
public struct WebhookVerifier: Sendable {
    /// The form of the signatures.
    enum Form: Sendable {
        case standard
        case stripe
        case github
    }

    /// A webhook that has been verified.
    public struct Message: Sendable, Hashable {
        /// The id of the message, for services that send one; a repeated message has the same id. GitHub does not sign it:
        /// somebody who repeats a message of GitHub can give it another id.
        public let id: String?
        /// When the service sent the message, for services that say so.
        public let date: Date?
    }

    private let form: Form
    private let keys: [SymmetricKey]
    /// The greatest difference between the time in the message and the clock.
    public let tolerance: Duration

    /// The most signatures of a message that are looked at.
    private static let limit = 32

    init(_ form: Form, _ keys: [SymmetricKey], _ tolerance: Duration) {
        self.form = form
        self.keys = keys
        self.tolerance = tolerance
    }

    /// Verifies a webhook.
    ///
    /// - Parameters:
    ///   - content: the content of the request, byte by byte as it was received.
    ///   - headerFields: the header fields of the request.
    ///   - date: the current date. Default: the system's.
    /// - Returns: the id and the date of the message. Services repeat messages; ids tell which are known.
    @discardableResult
    public func verify(
        _ content: [UInt8], headerFields: HTTPFields, at date: Date = Date()
    ) throws(WebhookError) -> Message {
        switch form {
        case .standard: try standard(content, headerFields, date)
        case .stripe: try stripe(content, headerFields, date)
        case .github: try github(content, headerFields)
        }
    }

    /// `webhook-id`, `webhook-timestamp` and `webhook-signature` with `v1,<Base64>` and spaces between signatures.
    private func standard(_ content: [UInt8], _ fields: HTTPFields, _ date: Date) throws(WebhookError)
        -> Message
    {
        func field(_ name: String) -> String? {
            // The former names of the same fields are in use, too.
            for prefix in ["webhook-", "svix-"] {
                if let name = HTTPField.Name(prefix + name), let value = fields[name] { return value }
            }
            return nil
        }
        guard let id = field("id"), let time = field("timestamp"), let text = field("signature") else {
            throw .missing
        }
        let sent = try checked(time, date)
        let signed = Array("\(id).\(time).".utf8) + content
        var hasSignature = false
        for item in text.split(separator: " ").prefix(Self.limit) {
            let parts = item.split(separator: ",", maxSplits: 1)
            guard parts.count == 2, parts[0] == "v1", let bytes = Data(base64Encoded: String(parts[1])) else {
                continue
            }
            hasSignature = true
            if isValid(Array(bytes), of: signed) { return Message(id: id, date: sent) }
        }
        throw hasSignature ? .invalid : .malformed
    }

    /// `Stripe-Signature` with `t=<seconds>,v1=<hexadecimal>`.
    private func stripe(_ content: [UInt8], _ fields: HTTPFields, _ date: Date) throws(WebhookError)
        -> Message
    {
        guard let name = HTTPField.Name("Stripe-Signature"), let text = fields[name] else { throw .missing }
        var time: Substring?
        var signatures: [[UInt8]] = []
        for item in text.split(separator: ",").prefix(Self.limit) {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            switch String(parts[0]).trimmedLine {
            case "t": time = parts[1]
            case "v1": if let bytes = [UInt8](hexadecimal: parts[1]) { signatures.append(bytes) }
            default: continue
            }
        }
        guard let time, !signatures.isEmpty else { throw .malformed }
        let sent = try checked(String(time), date)
        let signed = Array("\(time).".utf8) + content
        guard signatures.contains(where: { isValid($0, of: signed) }) else { throw .invalid }
        return Message(id: nil, date: sent)
    }

    /// `X-Hub-Signature-256` with `sha256=<hexadecimal>`, and `X-GitHub-Delivery`.
    private func github(_ content: [UInt8], _ fields: HTTPFields) throws(WebhookError) -> Message {
        guard let name = HTTPField.Name("X-Hub-Signature-256"), let text = fields[name] else {
            throw .missing
        }
        guard text.hasPrefix("sha256="), let signature = [UInt8](hexadecimal: text.dropFirst(7)) else {
            throw .malformed
        }
        guard isValid(signature, of: content) else { throw .invalid }
        return Message(id: HTTPField.Name("X-GitHub-Delivery").flatMap { fields[$0] }, date: nil)
    }

    /// The date in seconds since 1970, within the tolerance.
    private func checked(_ text: String, _ now: Date) throws(WebhookError) -> Date {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int64(text)
        else { throw .malformed }
        let date = Date(timeIntervalSince1970: Double(seconds))
        let age = now.timeIntervalSince(date)
        let limit = tolerance / .seconds(1)
        guard age <= limit else { throw .tooOld }
        guard age >= -limit else { throw .fromFuture }
        return date
    }

    private func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        keys.contains { HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: bytes, using: $0) }
    }
}

extension WebhookVerifier {
    /// The greatest difference of the clocks that services advise.
    public static let standardTolerance = Duration.seconds(300)

    /// Webhooks by the specification Standard Webhooks, which many services follow.
    ///
    /// - Parameters:
    ///   - secrets: the secrets in Base64, with or without the prefix `whsec_`.
    ///   - tolerance: the greatest difference between the time in the message and the clock. Default five minutes.
    /// - Throws: ``WebhookError/unusableSecret`` for no secret, or one that is no Base64.
    public static func standard(
        secrets: [String], tolerance: Duration = standardTolerance
    ) throws(WebhookError) -> WebhookVerifier {
        var keys: [SymmetricKey] = []
        for secret in secrets {
            let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
            guard let bytes = Data(base64Encoded: text), !bytes.isEmpty else { throw .unusableSecret }
            keys.append(SymmetricKey(data: bytes))
        }
        guard !keys.isEmpty else { throw .unusableSecret }
        return WebhookVerifier(.standard, keys, tolerance)
    }

    /// Webhooks by the specification Standard Webhooks, with one secret.
    public static func standard(secret: String) throws(WebhookError) -> WebhookVerifier {
        try standard(secrets: [secret])
    }

    /// Webhooks of Stripe.
    ///
    /// - Parameters:
    ///   - secrets: the secrets of the endpoint, such as `whsec_…`, as Stripe shows them.
    ///   - tolerance: the greatest difference between the time in the message and the clock. Default five minutes.
    /// - Throws: ``WebhookError/unusableSecret`` for no secret, or an empty one.
    public static func stripe(
        secrets: [String], tolerance: Duration = standardTolerance
    ) throws(WebhookError) -> WebhookVerifier {
        WebhookVerifier(.stripe, try plain(secrets), tolerance)
    }

    /// Webhooks of Stripe, with one secret.
    public static func stripe(secret: String) throws(WebhookError) -> WebhookVerifier {
        try stripe(secrets: [secret])
    }

    /// Webhooks of GitHub, and of services that sign with `X-Hub-Signature-256`. They carry no time.
    ///
    /// - Parameter secrets: the secrets of the webhook.
    /// - Throws: ``WebhookError/unusableSecret`` for no secret, or an empty one.
    public static func github(secrets: [String]) throws(WebhookError) -> WebhookVerifier {
        WebhookVerifier(.github, try plain(secrets), standardTolerance)
    }

    /// Webhooks of GitHub, with one secret.
    public static func github(secret: String) throws(WebhookError) -> WebhookVerifier {
        try github(secrets: [secret])
    }

    private static func plain(_ secrets: [String]) throws(WebhookError) -> [SymmetricKey] {
        guard !secrets.isEmpty, !secrets.contains(where: \.isEmpty) else { throw .unusableSecret }
        return secrets.map { SymmetricKey(data: Array($0.utf8)) }
    }
}

extension WebhookVerifier: RedactedDescription {
    /// The form of the signatures; never a secret.
    public var description: String {
        switch form {
        case .standard: "verifier of standard webhooks"
        case .stripe: "verifier of Stripe's webhooks"
        case .github: "verifier of GitHub's webhooks"
        }
    }
}

/// The reason why a webhook is refused.
public enum WebhookError: String, Error, Sendable, Hashable {
    /// The request lacks a header field of the signature.
    case missing
    /// A header field of the signature is malformed.
    case malformed
    /// The message is older than the tolerance; it may be a repetition by somebody else.
    case tooOld
    /// The message is from the future; the clocks differ.
    case fromFuture
    /// No signature is that of the content by any of the secrets. Check the secret, and that the content is unchanged.
    case invalid
    /// There is no secret, or one is empty or no Base64.
    case unusableSecret
}

extension [UInt8] {
    /// The bytes of hexadecimal digits; `nil` for other text.
    init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        self = []
        reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for byte in text.utf8 {
            guard let digit = byte.hexadecimalDigit else { return nil }
            if let first = high {
                append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
    }
}
#endif
