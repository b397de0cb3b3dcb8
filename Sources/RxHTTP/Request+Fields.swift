package import HTTPTypes

extension Request {
    /// Sets a header field from text that may come from anywhere.
    ///
    /// - Throws: `invalidHeader` if the name is not a token (RFC 9110 §5.1) or the value holds CR, LF, NUL,
    ///   another control character, or one that is not ASCII, which servers read as they please (RFC 9110
    ///   §5.5). The error names the field and not the value.
    public mutating func setField(_ name: String, to value: String) throws(NetworkError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError(.invalidHeader, "\(name.debugDescription) is no header name", request: self)
        }
        try setField(fieldName, to: value)
    }

    /// Sets a header field of a known name from text that may come from anywhere.
    ///
    /// - Throws: `invalidHeader` for a value as above, and for more fields than there can be.
    package mutating func setField(_ name: HTTPField.Name, to value: String) throws(NetworkError) {
        guard value.isPlain || HTTPField.isValidValue(value) && value.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw NetworkError(
                .invalidHeader,
                "the value of \(name) begins or ends in space, or holds a control or non-ASCII character",
                request: self)
        }
        guard headerFields.count < ResponseHead.mostFields else {
            throw NetworkError(
                .invalidHeader, "more than \(ResponseHead.mostFields) header fields", request: self)
        }
        headerFields[name] = value
    }
}

extension String {
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
