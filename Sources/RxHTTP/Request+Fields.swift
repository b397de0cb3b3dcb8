package import HTTPTypes

extension Request {
    /// Sets a header field from text that may come from anywhere.
    ///
    /// - Throws: `invalidHeader` if the name is not a token (RFC 9110 §5.1) or the value holds CR, LF, NUL,
    ///   another control character, or one that is not ASCII, which servers read as they please (RFC 9110
    ///   §5.5). The error names the field and not the value.
    public mutating func setField(_ name: String, to value: String) throws(NetworkError) {
        try setField(try fieldName(name), to: value)
    }

    /// Sets a header field of a known name from text that may come from anywhere.
    ///
    /// - Throws: `invalidHeader` for a value as above, and for more fields than there can be.
    package mutating func setField(_ name: HTTPField.Name, to value: String) throws(NetworkError) {
        try check(value, of: name)
        headerFields[name] = value
    }

    /// Puts header fields in the place of those of the same names.
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
            throw NetworkError(.invalidHeader, "\(name.debugDescription) is no header name", request: self)
        }
        return fieldName
    }

    private func check(_ value: String, of name: HTTPField.Name) throws(NetworkError) {
        guard value.isFieldValue else {
            throw NetworkError(
                .invalidHeader,
                "the value of \(name) begins or ends in space, or holds a control or non-ASCII character",
                request: self)
        }
        guard headerFields.count < ResponseHead.mostFields else {
            throw NetworkError(
                .invalidHeader, "more than \(ResponseHead.mostFields) header fields", request: self)
        }
    }
}

extension String {
    /// Whether it can be the value of a field, and every server reads it the same way.
    var isFieldValue: Bool { isPlain || HTTPField.isValidValue(self) && utf8.allSatisfy { $0 < 0x80 } }

    /// Whether it is a field value of visible ASCII characters with spaces between them, as most are.
    fileprivate var isPlain: Bool {
        let isPlain = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            for index in 0..<bytes.count where unsafe !(0x20...0x7E ~= bytes[index]) { return false }
            guard let first = unsafe bytes.first, let last = unsafe bytes.last else { return true }
            return first != 0x20 && last != 0x20
        }
        return isPlain ?? false
    }
}
