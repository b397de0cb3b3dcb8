package import FoundationEssentials
public import RxHTTP

/// The format of parameters: of a whole client with `ClientConfiguration.parameterFormat`, of one request
/// with ``Parameters/sent(as:)``.
public enum ParameterFormat: Sendable {
    /// A JSON body.
    case json
    /// An `application/x-www-form-urlencoded` body.
    case form
    /// The URL's query.
    case query
    /// A `multipart/form-data` body, with each value as a text part.
    case multipart
    /// A body of this MIME type in a format of your own, for servers that read neither JSON nor forms.
    ///
    /// ```swift
    /// let packed = ParameterFormat.custom(contentType: "application/msgpack") { value in
    ///     try MessagePackEncoder().encode(value)
    /// }
    /// client.post("/goods", .standard(goods).sent(as: packed))
    /// ```
    ///
    /// The closure receives the model or, if parameters have been added or removed, a tree with the same content. A
    /// thrown error fails the request with `invalidParameters`, unless it is a ``NetworkError``; nothing is sent then.
    case custom(contentType: String, @Sendable (any Encodable & Sendable) throws -> [UInt8])
}

extension Body {
    /// The bytes that `write` makes of a value, for an app's own format.
    init(
        of value: any Encodable & Sendable, as contentType: String,
        _ write: @Sendable (any Encodable & Sendable) throws -> [UInt8]
    ) throws(NetworkError) {
        do {
            self = .bytes(try write(value))
        } catch let error as NetworkError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            throw .unencodable(context)
        } catch {
            // The error may contain the value, which may be secret.
            throw NetworkError(
                .invalidParameters, "the parameters cannot be encoded as \(contentType): \(type(of: error))")
        }
    }
}

/// How lists and nested objects are written as names and values: in queries and forms.
public struct ParameterStyle: Sendable {
    /// How a list is written.
    public enum Lists: Sendable {
        /// `id=1&id=2`
        case repeated
        /// `id[]=1&id[]=2`
        case brackets
        /// `id[0]=1&id[1]=2`
        case indexed
        /// `id=1%2C2`, which reads `id=1,2`; a list that holds lists or objects repeats its key.
        case commaSeparated
    }

    /// How a list is written. Default: repeated.
    public var lists: Lists
    /// Whether a member of an object is named with a dot, as in `user.name=anna`. Default false: with brackets, as in
    /// `user[name]=anna`.
    public var usesDots: Bool

    /// Writes a query from its pairs, for servers with special rules. Default `nil`: `name=value` pairs
    /// joined by `&`, with every character escaped except RFC 3986's unreserved ones.
    public var query: (@Sendable ([ParameterPair]) throws(NetworkError) -> String)?

    /// Creates a style.
    public init(
        lists: Lists = .repeated, usesDots: Bool = false,
        query: (@Sendable ([ParameterPair]) throws(NetworkError) -> String)? = nil
    ) {
        self.lists = lists
        self.usesDots = usesDots
        self.query = query
    }

    func write(_ pairs: [ParameterPair]) throws(NetworkError) -> String {
        guard !pairs.isEmpty else { return "" }
        guard let query else { return pairs.encodedAsQuery }
        let text = try query(pairs)
        // The characters of RFC 3986 §3.4, and others that servers accept.
        guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else {
            throw NetworkError(
                .invalidParameters,
                "the query contains # or a character other than visible ASCII; percent-encode it")
        }
        return text
    }
}

extension JSONValue {
    /// The scalars in the tree, each with its full name, in the order of the keys. `null` is omitted.
    /// `Parameters.scalarPairs` gives the same pairs without a tree.
    func pairs(_ style: ParameterStyle) -> [ParameterPair] { pairs(style, named: "") }

    private func pairs(_ style: ParameterStyle, named name: String) -> [ParameterPair] {
        switch self {
        case .null: []
        case .bool, .integer, .unsigned, .number, .decimal, .string: [(name, scalarText ?? "")]
        case .array(let elements): Self.pairs(of: elements, style, named: name)
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { key, value in
                value.pairs(style, named: style.member(key, of: name))
            }
        }
    }

    private static func pairs(
        of elements: [JSONValue], _ style: ParameterStyle, named name: String
    ) -> [ParameterPair] {
        switch style.lists {
        case .repeated: elements.flatMap { $0.pairs(style, named: name) }
        case .brackets: elements.flatMap { $0.pairs(style, named: "\(name)[]") }
        case .indexed:
            elements.enumerated().flatMap { index, element in
                element.pairs(style, named: "\(name)[\(index)]")
            }
        case .commaSeparated:
            if case let texts = elements.compactMap(\.scalarText), texts.count == elements.count {
                texts.isEmpty ? [] : [(name, texts.joined(separator: ","))]
            } else {
                elements.flatMap { $0.pairs(style, named: name) }
            }
        }
    }
}

extension ParameterStyle {
    fileprivate func member(_ key: String, of name: String) -> String {
        guard !name.isEmpty else { return key }
        return usesDots ? "\(name).\(key)" : "\(name)[\(key)]"
    }
}

/// A name and its value, both unescaped.
public typealias ParameterPair = (name: String, value: String)

extension [ParameterPair] {
    /// The pairs of a query, and the text that servers verify signatures of (``Signature/Content/canonicalQuery``).
    var encodedAsQuery: String {
        joined { $0.percentEncoded }
    }

    var encodedAsForm: String {
        joined { $0.formEncoded }
    }

    private func joined(_ encode: (String) -> String) -> String {
        var text = ""
        for (name, value) in self {
            if !text.isEmpty { text += "&" }
            text += encode(name)
            text += "="
            text += encode(value)
        }
        return text
    }
}

/// A client's format, style and encoder, for parameters without own ones.
package struct ParameterDefaults: Sendable {
    /// The format of standard parameters, for methods with content.
    package let format: ParameterFormat
    /// How lists and nested objects are written.
    package let style: ParameterStyle
    /// Encodes models.
    package let encoder: JSONEncoder

    package init(format: ParameterFormat, style: ParameterStyle, encoder: JSONEncoder) {
        self.format = format
        self.style = style
        self.encoder = encoder
    }
}
