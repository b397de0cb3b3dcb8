/// The request fields that a server chose an answer by, as its `Vary` names them (RFC 9111 §4.1).
public struct CacheVariant: Hashable, Sendable, Codable {
    /// The values by the fields' names in lower case; `nil` for a field that was not there. Of what is secret a
    /// digest.
    public var fields: [String: String?]

    /// Creates a variant.
    public init(_ fields: [String: String?] = [:]) { self.fields = fields }
}
