#if Auth
public import FoundationEssentials
public import HTTPTypes
import RawStructuredFieldValues
public import RxHTTP

/// Verifies HTTP Message Signatures (RFC 9421).
///
/// ```swift
/// let verifier = MessageVerifier(policy) { $0.keyID == "server-1" ? key : nil }
/// let signature = try verifier.verify(SignableMessage(response))
/// ```
///
/// A message is accepted if one of its signatures is valid and satisfies the policy. The algorithm is that of the key; a
/// signature that names another one is refused.
public struct MessageVerifier: Sendable {
    /// The components that a signature must cover, and its greatest age.
    public struct Policy: Sendable {
        /// The components that the signature must cover.
        public var requiredComponents: [SignatureComponent]
        /// The greatest age of the signature. Default five minutes; `nil`: any age, and a signature need not say when it
        /// was made.
        public var maxAge: Duration?
        /// The greatest difference of the clocks. Default 30 seconds.
        public var clockTolerance: Duration
        /// The application of the signature. Default `nil`: any.
        public var tag: String?
        /// The label of the signature. Default `nil`: any.
        public var label: String?
        /// The accepted algorithms. Default: all but RSASSA-PKCS1-v1_5.
        public var algorithms: Set<MessageSignatureAlgorithm>
        /// Whether the signature must name its end. Default false.
        public var requiresExpiry = false
        /// Whether the signature must cover the `Signature-Agent` field of a message that has it: the whole field, or its
        /// member with the label of the signature.
        var coversAgent = false

        /// Creates a policy.
        public init(
            requiring components: [SignatureComponent], maxAge: Duration? = .seconds(300),
            clockTolerance: Duration = .seconds(30), tag: String? = nil, label: String? = nil,
            algorithms: Set<MessageSignatureAlgorithm> = Set(MessageSignatureAlgorithm.allCases)
                .subtracting([.rsaV15SHA256])
        ) {
            requiredComponents = components
            self.maxAge = maxAge
            self.clockTolerance = clockTolerance
            self.tag = tag
            self.label = label
            self.algorithms = algorithms
        }

        /// The policy for requests of automated clients (Web Bot Auth), which cover the host and, where it is given, the
        /// `Signature-Agent` field, and expire.
        public static var webBot: Policy {
            var policy = Policy(
                requiring: [.authority], maxAge: .seconds(86_400), tag: "web-bot-auth", algorithms: [.ed25519]
            )
            policy.requiresExpiry = true
            policy.coversAgent = true
            return policy
        }
    }

    /// A signature that has been verified.
    public struct Verified: Sendable, Hashable {
        /// The label.
        public let label: String
        /// The components that the signature covers. Nothing else of the message is authentic.
        public let components: [SignatureComponent]
        /// The parameters. The nonce is new only if the app has not seen it before.
        public let parameters: MessageSignatureParameters
    }

    /// The maximum number of signatures of a message that are checked.
    private static let limit = 16

    /// The requirements that a signature must meet.
    public var policy: Policy
    /// The kinds of structured fields that the app has defined; see ``MessageSigner/structuredFields``.
    public var structuredFields: [HTTPField.Name: StructuredFieldKind] = [:]
    private let key: @Sendable (MessageSignatureParameters) -> MessageVerifyingKey?

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - policy: what signatures must satisfy.
    ///   - key: the key for a signature, by its parameters, which are not authentic yet; `nil` if there is none.
    public init(
        _ policy: Policy, key: @escaping @Sendable (MessageSignatureParameters) -> MessageVerifyingKey?
    ) {
        self.policy = policy
        self.key = key
    }

    /// The first signature of a message that satisfies the policy.
    ///
    /// If it covers `Content-Digest`, in the header or in the trailer, and the message has its content, the digest must be
    /// that of the content. A message without these fields in its header may have its signature in the trailer, as those
    /// are that sign what is known at their end only.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - date: the current date. Default: the system's.
    /// - Throws: the reason for the last signature, or `missing`.
    @discardableResult
    public func verify(
        _ message: SignableMessage, at date: Date = Date()
    ) throws(MessageSignatureError) -> Verified {
        let isSignedAtEnd =
            message.headerFields[.signatureInput] == nil && message.headerFields[.signature] == nil
        let fields = isSignedAtEnd ? message.trailers : message.headerFields
        guard let inputText = fields[.signatureInput], let text = fields[.signature] else {
            throw MessageSignatureError(.missing, "the message has no signature")
        }
        guard let inputs = MessageSignatureInput.all(in: inputText),
            let signatures = StructuredText.dictionary(text)
        else {
            throw MessageSignatureError(.malformed, "the fields of the signature are malformed or too long")
        }
        guard inputs.count <= Self.limit else {
            throw MessageSignatureError(.malformed, "the message has more than \(Self.limit) signatures")
        }
        var failure: MessageSignatureError?
        for (label, input) in inputs where policy.label.map({ $0 == label }) ?? true {
            guard let input, case .item(let item)? = signatures[label],
                case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                let signature = Data(base64Encoded: text)
            else {
                failure = MessageSignatureError(.malformed, "a signature is malformed")
                continue
            }
            if let tag = policy.tag, input.parameters.tag != tag { continue }
            do throws(MessageSignatureError) {
                try checkAgent(input, label, of: message)
                try verify(input, Array(signature), of: message, at: date)
                return Verified(label: label, components: input.components, parameters: input.parameters)
            } catch { failure = error }
        }
        throw failure
            ?? MessageSignatureError(.missing, "the message has no signature with the required label or tag")
    }

    /// A directory of keys that anybody on the way could have named says nothing about the client.
    private func checkAgent(
        _ input: MessageSignatureInput, _ label: String, of message: SignableMessage
    ) throws(MessageSignatureError) {
        guard policy.coversAgent, message.headerFields[.signatureAgent] != nil else { return }
        let isCovered = input.components.contains { $0.isSignatureAgent(of: label) }
        guard isCovered else {
            throw MessageSignatureError(
                .insufficient, "the message has a signature-agent, which the signature does not cover")
        }
    }

    private func verify(
        _ input: MessageSignatureInput, _ signature: [UInt8], of message: SignableMessage, at date: Date
    ) throws(MessageSignatureError) {
        let parameters = input.parameters
        try checkTime(of: parameters, at: date)
        // Content without a digest may have been added on the way. Any form of the digest covers it.
        let isContentOpen =
            message.content?.isEmpty == false && !input.components.contains { $0.isContentDigest }
        for component in policy.requiredComponents where !input.components.contains(component) {
            // A component that is covered where the message has it.
            let isAbsent =
                message.value(of: component, structuredFields) == nil
                && !(component.isContentDigest && isContentOpen)
            guard component.isOptional, isAbsent else {
                throw MessageSignatureError(.insufficient, "the signature does not cover \(component)")
            }
        }
        guard let key = key(parameters) else {
            throw MessageSignatureError(.unknownKey, "there is no key for the signature")
        }
        guard policy.algorithms.contains(key.algorithm),
            parameters.algorithm.map({ $0 == key.algorithm.rawValue }) ?? true
        else {
            throw MessageSignatureError(
                .wrongAlgorithm, "the signature must be one of \(key.algorithm.rawValue)")
        }
        let base: [UInt8]
        do throws(MessageSignatureInput.MissingComponent) {
            base = try input.base(of: message, structuredFields)
        } catch {
            throw MessageSignatureError(
                .missingComponent, "the message has no \(error.component), or not in this form")
        }
        guard key.verifies(signature, of: base) else {
            throw MessageSignatureError(.invalid, "the signature is not that of the message")
        }
        guard let content = message.content else { return }
        for component in input.components where component.isContentDigest {
            guard message.contentDigest(of: component)?.matches(content) == true else {
                throw MessageSignatureError(
                    .wrongDigest,
                    "the content does not have the digest that is signed; a content coding must not be decoded first"
                )
            }
        }
    }

    private func checkTime(
        of parameters: MessageSignatureParameters, at date: Date
    ) throws(MessageSignatureError) {
        let tolerance = policy.clockTolerance / .seconds(1)
        if let expires = parameters.expires {
            guard expires.addingTimeInterval(tolerance) >= date else {
                throw MessageSignatureError(.expired, "the signature has expired")
            }
        } else if policy.requiresExpiry {
            throw MessageSignatureError(.insufficient, "the signature does not say when it expires")
        }
        guard let created = parameters.created else {
            guard policy.maxAge == nil else {
                throw MessageSignatureError(.insufficient, "the signature does not say when it was made")
            }
            return
        }
        let age = date.timeIntervalSince(created)
        guard age >= -tolerance else {
            throw MessageSignatureError(.notYetValid, "the signature is from the future; check the clock")
        }
        if let maxAge = policy.maxAge, age > maxAge / .seconds(1) + tolerance {
            throw MessageSignatureError(.expired, "the signature is older than \(maxAge)")
        }
    }
}

extension MessageVerifier: RedactedDescription {
    /// The components that signatures must cover.
    public var description: String {
        "verifier of " + policy.requiredComponents.map(\.description).joined(separator: ", ")
    }
}
#endif
