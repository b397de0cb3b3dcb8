#if Auth
public import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// The parameters of a message signature (RFC 9421 §2.3), besides its components.
public struct MessageSignatureParameters: Sendable, Hashable {
    /// When the signature was made.
    public var created: Date?
    /// When the signature expires.
    public var expires: Date?
    /// A text that is used once.
    public var nonce: String?
    /// The algorithm, as the signature names it.
    public var algorithm: String?
    /// The name of the key.
    public var keyID: String?
    /// The application of the signature.
    public var tag: String?

    /// Creates parameters.
    public init(
        created: Date? = nil, expires: Date? = nil, nonce: String? = nil, algorithm: String? = nil,
        keyID: String? = nil, tag: String? = nil
    ) {
        self.created = created
        self.expires = expires
        self.nonce = nonce
        self.algorithm = algorithm
        self.keyID = keyID
        self.tag = tag
    }

    // The order is that of the text that is signed; verifiers take any. The reader below has the same names.
    fileprivate var items: OrderedMap<String, RFC9651BareItem> {
        var items = OrderedMap<String, RFC9651BareItem>()
        items["created"] = created.map { .integer(Self.seconds($0)) }
        items["expires"] = expires.map { .integer(Self.seconds($0)) }
        items["nonce"] = nonce.map { .string($0) }
        items["alg"] = algorithm.map { .string($0) }
        items["keyid"] = keyID.map { .string($0) }
        items["tag"] = tag.map { .string($0) }
        return items
    }

    private static func seconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // Structured fields have integers of at most 15 digits (RFC 9651 §3.3.1).
        return seconds.isNaN ? 0 : Int64(min(max(seconds, -999_999_999_999_999), 999_999_999_999_999))
    }

    fileprivate init?(_ items: OrderedMap<String, RFC9651BareItem>) {
        for (key, value) in items {
            switch (key, value) {
            case ("created", .integer(let seconds)): created = Date(timeIntervalSince1970: Double(seconds))
            case ("expires", .integer(let seconds)): expires = Date(timeIntervalSince1970: Double(seconds))
            case ("nonce", .string(let text)): nonce = text
            case ("alg", .string(let text)): algorithm = text
            case ("keyid", .string(let text)): keyID = text
            case ("tag", .string(let text)): tag = text
            case ("created", _), ("expires", _), ("nonce", _), ("alg", _), ("keyid", _), ("tag", _):
                return nil
            default: continue
            }
        }
    }
}

/// The components that one signature covers: the member of `Signature-Input` under its label (RFC 9421 §4.1).
struct MessageSignatureInput: Sendable {
    let components: [SignatureComponent]
    let parameters: MessageSignatureParameters
    /// The components and parameters, in their serialization.
    let text: String

    /// The most components of a signature that is read.
    static let limit = 64

    init?(_ components: [SignatureComponent], _ parameters: MessageSignatureParameters) {
        var list = BareInnerList()
        for component in components { list.append(component.identifier) }
        let inner = InnerList(bareInnerList: list, parameters: parameters.items)
        guard let text = StructuredText.serialized([.innerList(inner)]) else { return nil }
        self.components = components
        self.parameters = parameters
        self.text = text
    }

    /// The members of a `Signature-Input` field with their labels, `nil` for each that is malformed; `nil` for a field
    /// that is malformed or too long.
    static func all(in field: String) -> [(label: String, input: MessageSignatureInput?)]? {
        StructuredText.dictionary(field)?.map { ($0.0, MessageSignatureInput($0.1)) }
    }

    /// Reads a member; `nil` for one that is no list of components, or has one twice.
    init?(_ member: ItemOrInnerList) {
        guard case .innerList(let list) = member, list.bareInnerList.count <= Self.limit,
            let parameters = MessageSignatureParameters(list.rfc9651Parameters),
            let text = StructuredText.serialized([member])
        else { return nil }
        var components: [SignatureComponent] = []
        for item in list.bareInnerList {
            guard let component = SignatureComponent(item) else { return nil }
            components.append(component)
        }
        guard Set(components).count == components.count else { return nil }
        self.components = components
        self.parameters = parameters
        self.text = text
    }

    /// The text that the signature signs (RFC 9421 §2.5).
    ///
    /// - Throws: the first component that the message does not have.
    func base(
        of message: SignableMessage, _ kinds: [HTTPField.Name: StructuredFieldKind]
    ) throws(MissingComponent) -> [UInt8] {
        var base = ""
        for component in components {
            guard let value = message.value(of: component, kinds), !value.utf8.contains(0x0A) else {
                throw MissingComponent(component: component)
            }
            base += "\(component): \(value)\n"
        }
        return Array((base + "\"@signature-params\": \(text)").utf8)
    }

    struct MissingComponent: Error {
        let component: SignatureComponent
    }
}

/// The reason why a message has no valid signature.
public struct MessageSignatureError: Error, Sendable, Hashable {
    /// The kinds of reasons. Open-ended.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name, as printed.
        public var rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The message has no signature, or none with the label or tag that the policy requires.
        public static let missing = Code(rawValue: "missing")
        /// `Signature-Input` or `Signature` is malformed, too long, or one of them lacks the label.
        public static let malformed = Code(rawValue: "malformed")
        /// There is no key for the signature.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The signature names another algorithm than its key has.
        public static let wrongAlgorithm = Code(rawValue: "wrongAlgorithm")
        /// The signature does not cover a component, or lacks a parameter, that the policy requires.
        public static let insufficient = Code(rawValue: "insufficient")
        /// The message does not have a component that the signature covers.
        public static let missingComponent = Code(rawValue: "missingComponent")
        /// The signature has expired, or is older than the policy allows.
        public static let expired = Code(rawValue: "expired")
        /// The signature was made in the future; the clocks differ.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The signature is not that of the message.
        public static let invalid = Code(rawValue: "invalid")
        /// The content does not have the digest that the signature covers.
        public static let wrongDigest = Code(rawValue: "wrongDigest")
    }

    /// The kind of the reason.
    public var code: Code
    /// A description for people; it contains nothing of the message but names.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension MessageSignatureError: CustomStringConvertible {
    /// Kind and description.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension HTTPField.Name {
    static let signature = HTTPField.Name("Signature")!
    static let signatureInput = HTTPField.Name("Signature-Input")!
    static let signatureAgent = HTTPField.Name("Signature-Agent")!
    static let contentDigest = HTTPField.Name("Content-Digest")!
}
#endif
