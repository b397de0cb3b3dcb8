/// The header fields of a request, as written: in order, and with repeated names.
///
/// ```swift
/// configuration.options.headers = ["X-App": "shop", "Accept": "text/html", "Accept": "application/json"]
/// configuration.options.headers["X-App"] = "store"
/// ```
///
/// These fields replace earlier fields of the request with the same name, regardless of case (RFC 9110 §5.1).
/// A value of `nil` removes such a field.
///
/// Names and values are checked when a request is made: an invalid field fails it with
/// ``NetworkError/Code/invalidHeader``.
public struct Headers: Sendable, Hashable {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value; `nil` removes the field.
        public var value: String?

        /// Creates a field.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public var fields: [Field]

    /// Creates a list.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates a list from a dictionary, sorted by name.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }

    /// Appends a field, even if there is one of the same name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The values of a name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.compactMap(\.value)
    }

    /// The value of a name, several joined by `, ` (RFC 9110 §5.3). Setting it replaces the first field of
    /// that name and deletes the others; `nil` removes the field from the request.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            let field = Field(name: name, value: newValue)
            guard let first = fields.firstIndex(where: { Self.isSame($0.name, name) }) else {
                return fields.append(field)
            }
            fields.removeAll { Self.isSame($0.name, name) }
            fields.insert(field, at: first)
        }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased()
    }
}

extension Headers: ExpressibleByDictionaryLiteral {
    /// The fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, String?)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension Headers: RedactedDescription {
    /// The names only, because any value may be a secret.
    public var description: String {
        fields.map { $0.value == nil ? "\($0.name): none" : "\($0.name): \(Redaction.mark)" }.joined(
            separator: ", ")
    }
}

extension Headers.Field: RedactedDescription {
    /// The name.
    public var description: String { "\(Headers([self]))" }
}
