import HTTPTypes

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
        guard HTTPField.isValidValue(value), value.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw NetworkError(
                .invalidHeader,
                "the value of \(name) begins or ends in space, or holds a control or non-ASCII character",
                request: self)
        }
        headerFields[fieldName] = value
    }
}
