import HTTPTypes

extension ResponseHead {
    /// Whether the body as it is delivered is another than the one on the wire (RFC 9110 §8.4).
    package var isCoded: Bool {
        guard let coding = self[.contentEncoding] else { return false }
        return coding.lowercased() != "identity"
    }

    /// The announced length of the body; `nil` where there is none, or none that can be read.
    package var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
