/// Header fields of requests, as written: in their order, and a name as often as it has values.
///
/// ```swift
/// configuration.headers = ["X-App": "shop", "Accept": "text/html", "Accept": "application/json"]
/// configuration.headers["X-App"] = "store"
/// ```
///
/// Fields replace the request's earlier fields of the same name, regardless of case (RFC 9110 §5.1). A value of `nil`
/// leaves a field out that would come from there.
///
/// Names and values are looked at when a request is made: what is no header field fails it with
/// ``NetworkError/Code/invalidHeader``.
public struct Headers: Sendable, Hashable {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value; `nil` for a field that is left out.
        public var value: String?

        /// Creates a field.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in their order.
    public var fields: [Field]

    /// Creates a list.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates a list of the pairs of a dictionary, in the order of their names.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }

    /// Adds a field after the existing ones, also of the same name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The values of a name, in their order.
    public func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.compactMap(\.value)
    }

    /// The value of a name, several joined by `, ` (RFC 9110 §5.3). Setting it puts one field in the place of the first
    /// of that name and takes out the others; `nil` leaves the field out.
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

extension Headers: CustomStringConvertible, CustomReflectable {
    /// The names; any value may be a secret.
    public var description: String {
        fields.map { $0.value == nil ? "\($0.name): none" : "\($0.name): \(Redaction.mark)" }.joined(
            separator: ", ")
    }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Headers.Field: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { "\(Headers([self]))" }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
