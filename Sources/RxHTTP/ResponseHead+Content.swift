import HTTPTypes

extension ResponseHead {
    /// Whether the delivered body differs from the body on the wire by a content coding (RFC 9110 §8.4).
    package var isCoded: Bool {
        guard let coding = self[.contentEncoding] else { return false }
        return coding.lowercased() != "identity"
    }

    /// The announced length of the body; `nil` if it is missing or malformed.
    package var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
