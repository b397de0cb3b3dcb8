package import FoundationEssentials
public import HTTPTypes

/// A part of a multipart response (RFC 2046 §5.1).
public struct ResponsePart: Sendable {
    /// The header fields of the part; empty if it has none. Lines that are not `name: value` are omitted.
    public var headerFields: HTTPFields
    /// The content, without the line end before the next boundary. Transfer encodings are not decoded.
    public var body: [UInt8]
    /// The JSON decoder of the client; `nil` if no client received the part.
    package var decoder: JSONDecoder?

    /// Creates a part.
    public init(headerFields: HTTPFields = [:], body: [UInt8]) {
        self.headerFields = headerFields
        self.body = body
    }

    /// The content as UTF-8 text; invalid bytes show as U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content, decoded from JSON with the client's decoder.
    ///
    /// - Throws: ``NetworkError/Code/decoding`` with the coding path, and the content as body.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> T {
        try (decoder ?? JSONDecoder()).decode(type, named: "the part", body)
    }
}

extension ResponsePart: RedactedDescription {
    /// One line without secrets: the header fields, as ``Redaction`` shows them, and the size of the content.
    public var description: String {
        let fields = Redaction().shown(headerFields).map { "\($0.name): \($0.value)" }
        return (fields + ["\(body.count) bytes"]).joined(separator: ", ")
    }
}
