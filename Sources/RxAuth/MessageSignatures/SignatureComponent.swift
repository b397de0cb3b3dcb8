#if Auth
public import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// A part of a message that a signature covers (RFC 9421 §2): a header field, or a component derived from the message.
///
/// ```swift
/// let components: [SignatureComponent] = ["@method", "@authority", "content-digest", .query("page")]
/// ```
public struct SignatureComponent: Sendable {
    /// The name: of a field in lower case, or of a derived component with its `@`.
    public let name: String
    /// The modifications of the component's value.
    let modifiers: Set<Modifier>
    /// The component as signatures name it, with its parameters in their order.
    let identifier: Item
    /// Whether a signer leaves the component out if the message does not have it.
    private(set) var isOptional = false

    /// The parameters of RFC 9421.
    enum Modifier: Hashable {
        /// `sf`: the value as a structured field in its one serialization.
        case structured
        /// `key`: a member of the structured field, which is a dictionary.
        case member(String)
        /// `bs`: each line of the field as bytes.
        case bytes
        /// `req`: of the request that the signed response answers.
        case request
        /// `tr`: of the trailer.
        case trailer
        /// `name`: a parameter of the query, escaped.
        case parameter(String)

        /// The parameter as it is written; the initializer that takes an `Item` reads the same names.
        fileprivate var pair: (key: String, value: RFC9651BareItem) {
            switch self {
            case .structured: ("sf", true)
            case .member(let key): ("key", .string(key))
            case .bytes: ("bs", true)
            case .request: ("req", true)
            case .trailer: ("tr", true)
            case .parameter(let name): ("name", .string(name))
            }
        }
    }

    private init(_ name: String, _ modifiers: [Modifier]) {
        self.name = name
        self.modifiers = Set(modifiers)
        var parameters = OrderedMap<String, RFC9651BareItem>()
        for modifier in modifiers { parameters[modifier.pair.key] = modifier.pair.value }
        identifier = Item(bareItem: .string(name), parameters: parameters)
    }

    /// Reads an identifier; `nil` for one that RFC 9421 does not define.
    init?(_ item: Item) {
        guard case .string(let name) = item.rfc9651BareItem, !name.isEmpty,
            name.utf8.allSatisfy({ !(0x41...0x5A).contains($0) })
        else { return nil }
        var modifiers: Set<Modifier> = []
        for (key, value) in item.rfc9651Parameters {
            switch (key, value) {
            case ("sf", .bool(true)): modifiers.insert(.structured)
            case ("bs", .bool(true)): modifiers.insert(.bytes)
            case ("req", .bool(true)): modifiers.insert(.request)
            case ("tr", .bool(true)): modifiers.insert(.trailer)
            case ("key", .string(let text)): modifiers.insert(.member(text))
            case ("name", .string(let text)): modifiers.insert(.parameter(text))
            default: return nil
            }
        }
        self.name = name
        self.modifiers = modifiers
        identifier = item
    }

    /// A header field. The values of its lines are joined by a comma and a space.
    public static func field(_ name: HTTPField.Name) -> SignatureComponent {
        SignatureComponent(name.canonicalName, [])
    }

    /// A parameter of the query, by its name without escapes (RFC 9421 §2.2.8). The query must have it once.
    public static func query(_ name: String) -> SignatureComponent {
        SignatureComponent("@query-param", [.parameter(name.escapedInQuery)])
    }

    /// The method of the request.
    public static let method = SignatureComponent("@method", [])
    /// The URL of the request, without a fragment.
    public static let targetURI = SignatureComponent("@target-uri", [])
    /// Host and port of the request, in lower case, without a default port.
    public static let authority = SignatureComponent("@authority", [])
    /// The scheme of the request's URL.
    public static let scheme = SignatureComponent("@scheme", [])
    /// The path and query of the request.
    public static let requestTarget = SignatureComponent("@request-target", [])
    /// The path of the request.
    public static let path = SignatureComponent("@path", [])
    /// The query of the request with its question mark; a question mark alone if it has none.
    public static let query = SignatureComponent("@query", [])
    /// The status of the response.
    public static let status = SignatureComponent("@status", [])
    /// The digest of the content (RFC 9530).
    public static let contentDigest = SignatureComponent("content-digest", [])

    /// The component of the request, in the signature of its response (`req`).
    public var ofRequest: SignatureComponent { adding(.request) }
    /// The field in the one serialization that structured fields have (`sf`, RFC 9421 §2.1.1).
    public var structured: SignatureComponent { adding(.structured) }
    /// Each line of the field as bytes, for fields such as `Set-Cookie`, whose lines must not be joined (`bs`).
    public var bytes: SignatureComponent { adding(.bytes) }
    /// The field of the trailer (`tr`).
    public var ofTrailer: SignatureComponent { adding(.trailer) }
    /// One member of the field, which is a dictionary (`key`, RFC 9421 §2.1.2).
    public func member(_ key: String) -> SignatureComponent { adding(.member(key)) }

    /// Whether this is the digest of the message's own content, in any form.
    var isContentDigest: Bool {
        name == Self.contentDigest.name && !modifiers.contains(.request)
    }

    /// Whether this is the message's own agent in the header, or its member for the signature with a label.
    func isSignatureAgent(of label: String) -> Bool {
        name == HTTPField.Name.signatureAgent.canonicalName && !modifiers.contains(.request)
            && !modifiers.contains(.trailer) && memberKey.map { $0 == label } ?? true
    }

    /// Whether this is a field of the trailer.
    var isOfTrailer: Bool { modifiers.contains(.trailer) }

    /// The key of the member that is covered, if it is one.
    var memberKey: String? {
        for case .member(let key) in modifiers { return key }
        return nil
    }

    /// The component where the message has it. Without it, a signer fails for a message that lacks the component.
    ///
    /// A verifier that requires ``contentDigest`` in this way accepts a message without it only if the message has no
    /// content, or none that is known.
    public var ifPresent: SignatureComponent {
        var component = self
        component.isOptional = true
        return component
    }

    private func adding(_ modifier: Modifier) -> SignatureComponent {
        var parameters = identifier.rfc9651Parameters
        parameters[modifier.pair.key] = modifier.pair.value
        var component = SignatureComponent(
            name: name, modifiers: modifiers.union([modifier]),
            identifier: Item(bareItem: .string(name), parameters: parameters))
        component.isOptional = isOptional
        return component
    }

    private init(name: String, modifiers: Set<Modifier>, identifier: Item) {
        self.name = name
        self.modifiers = modifiers
        self.identifier = identifier
    }
}

extension SignatureComponent: Hashable {
    /// Whether both name the same component; the order of parameters does not matter.
    public static func == (first: Self, second: Self) -> Bool {
        // Not `isOptional`, which a component of a received signature never has.
        first.name == second.name && first.modifiers == second.modifiers
    }

    /// Hashes name and parameters.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(modifiers)
    }
}

extension SignatureComponent: ExpressibleByStringLiteral {
    /// A field by its name in any case, or a derived component such as `@method`.
    public init(stringLiteral name: String) { self.init(name.lowercased(), []) }
}

extension SignatureComponent: CustomStringConvertible {
    /// The identifier, such as `"@query-param";name="page"`.
    public var description: String {
        StructuredText.serialized(identifier) ?? "\"\(name)\""
    }
}

/// Structured fields (RFC 9651) as text.
enum StructuredText {
    static func serialized(_ item: Item) -> String? {
        var serializer = StructuredFieldValueSerializer()
        return (try? serializer.writeItemFieldValue(item)).map { String(decoding: $0, as: UTF8.self) }
    }

    static func serialized(_ list: [ItemOrInnerList]) -> String? {
        var serializer = StructuredFieldValueSerializer()
        return (try? serializer.writeListFieldValue(list)).map { String(decoding: $0, as: UTF8.self) }
    }

    static func serialized(_ dictionary: OrderedMap<String, ItemOrInnerList>) -> String? {
        var serializer = StructuredFieldValueSerializer()
        return (try? serializer.writeDictionaryFieldValue(dictionary)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    static func serialized(_ value: ItemOrInnerList) -> String? {
        switch value {
        case .item(let item): serialized(item)
        case .innerList: serialized([value])
        }
    }

    /// The most bytes of a field to parse: the time grows with the square of the number of members.
    static let limit = 8192

    static func dictionary(_ text: String) -> OrderedMap<String, ItemOrInnerList>? {
        guard text.utf8.count <= limit else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return try? parser.parseDictionaryFieldValue()
    }

    static func list(_ text: String) -> [ItemOrInnerList]? {
        guard text.utf8.count <= limit else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return try? parser.parseListFieldValue()
    }

    static func item(_ text: String) -> Item? {
        guard text.utf8.count <= limit else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return try? parser.parseItemFieldValue()
    }
}

extension String {
    /// The text as a name or value of `@query-param`: the percent-encode set of `application/x-www-form-urlencoded`
    /// (WHATWG URL §1.3), with `%20` for a space.
    var escapedInQuery: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            let isPlain =
                byte.isUnreservedByte && byte != UInt8(ascii: "~") || byte == UInt8(ascii: "*")
            if isPlain {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%")] + Array(hexadecimalCapitals(byte).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func hexadecimalCapitals(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
#endif
