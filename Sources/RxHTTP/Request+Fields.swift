package import HTTPTypes

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
        guard headerFields.count < ResponseHead.mostFields else {
            throw NetworkError(
                .invalidHeader, "the request has more than \(ResponseHead.mostFields) header fields",
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
