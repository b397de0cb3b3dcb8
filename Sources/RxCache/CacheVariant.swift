public import RxHTTP

/// The request fields by which a server selected a response, as its `Vary` names them (RFC 9111 §4.1).
public struct CacheVariant: Hashable, Sendable, Codable {
    /// The values by the fields' names in lower case; `nil` for an absent field. Secret values are stored as
    /// digests.
    public var fields: [String: String?]

    /// Creates a variant.
    public init(_ fields: [String: String?] = [:]) { self.fields = fields }
}

extension CacheVariant: RedactedDescription {
    /// The names of the fields.
    public var description: String { fields.keys.sorted().joined(separator: ", ") }
}
