import HTTPTypes

extension Request {
    /// Sets a header field from text that may come from anywhere.
    ///
    /// - Throws: `invalidHeader` if the name is not a token (RFC 9110 §5.1) or the value holds CR, LF, NUL
    ///   or another control character (RFC 9110 §5.5). The error names the field and not the value.
    public mutating func setField(_ name: String, to value: String) throws(NetworkError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw NetworkError(.invalidHeader, "\(name.debugDescription) is no header name", request: self)
        }
        guard HTTPField.isValidValue(value) else {
            throw NetworkError(
                .invalidHeader, "the value of \(name) begins or ends in space, or holds a control character",
                request: self)
        }
        headerFields[fieldName] = value
    }
}
