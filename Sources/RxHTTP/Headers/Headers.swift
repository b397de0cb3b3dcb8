package import HTTPTypes

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
    package struct Field: Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value; `nil` removes the field.
        package var value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    package var fields: [Field]

    /// Creates an empty list.
    public init() { fields = [] }

    package init(_ fields: [Field]) { self.fields = fields }

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
        fields.map(\.description).joined(separator: ", ")
    }
}

extension Headers.Field: RedactedDescription {
    /// The name, and whether the field is set or removed.
    package var description: String {
        value == nil ? "\(name): none" : "\(name): \(Redaction.mark)"
    }
}

extension Request {
    /// Sets a header field from text of any source.
    ///
    /// - Throws: `invalidHeader` if the name is not a token (RFC 9110 §5.1), or the value contains CR, LF,
    ///   NUL, another control character or a non-ASCII character, which servers read differently (RFC 9110
    ///   §5.5). The error contains the name of the field but not the value.
    public mutating func setField(_ name: String, to value: String) throws(NetworkError) {
        try setField(try fieldName(name), to: value)
    }

    /// Sets a header field of a known name from text of any source.
    ///
    /// - Throws: `invalidHeader` for such a value, and for too many fields.
    package mutating func setField(_ name: HTTPField.Name, to value: String) throws(NetworkError) {
        try check(value, of: name)
        // Appending is faster than replacing nothing.
        if headerFields.contains(name) {
            headerFields[name] = value
        } else {
            headerFields.append(HTTPField(name: name, value: value))
        }
    }

    /// Sets header fields and replaces those of the same names.
    ///
    /// - Throws: `invalidHeader` as ``setField(_:to:)`` does.
    package mutating func setFields(_ headers: Headers) throws(NetworkError) {
        var names: Set<HTTPField.Name> = []
        for field in headers.fields {
            let name = try fieldName(field.name)
            if names.insert(name).inserted { headerFields[name] = nil }
            guard let value = field.value else { continue }
            try check(value, of: name)
            headerFields.append(HTTPField(name: name, value: value))
        }
    }

    private func fieldName(_ name: String) throws(NetworkError) -> HTTPField.Name {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError(
                .invalidHeader, "\(name.debugDescription) is not a valid header field name", request: self)
        }
        return fieldName
    }

    private func check(_ value: String, of name: HTTPField.Name) throws(NetworkError) {
        guard value.isFieldValue else {
            throw NetworkError(
                .invalidHeader,
                "the value of \(name) begins or ends with a blank, or contains a control or non-ASCII character",
                request: self)
        }
        guard headerFields.count < ResponseHead.maxFields else {
            throw NetworkError(
                .invalidHeader, "the request has more than \(ResponseHead.maxFields) header fields",
                request: self)
        }
    }
}

extension String {
    /// Whether the text is a field value that every server reads the same way.
    var isFieldValue: Bool { isPlain || HTTPField.isValidValue(self) && utf8.allSatisfy { $0 < 0x80 } }

    /// Whether the text is a field value of visible ASCII characters with spaces between them, as most are.
    fileprivate var isPlain: Bool {
        let isPlain = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            for index in 0..<bytes.count where unsafe !(0x20...0x7E ~= bytes[index]) { return false }
            guard let first = unsafe bytes.first, let last = unsafe bytes.last else { return true }
            return first != 0x20 && last != 0x20
        }
        return isPlain ?? false
    }
}
