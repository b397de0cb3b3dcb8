/// The request fields that a server selected a response by, as its `Vary` names them (RFC 9111 §4.1).
public struct CacheVariant: Hashable, Sendable, Codable {
    /// The values by the fields' names in lower case; `nil` for a field that was not there. Of what is secret a
    /// digest.
    public var fields: [String: String?]

    /// Creates a variant.
    public init(_ fields: [String: String?] = [:]) { self.fields = fields }
}

extension CacheVariant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the fields.
    public var description: String { fields.keys.sorted().joined(separator: ", ") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
