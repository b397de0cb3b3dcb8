/// An empty value: the output of endpoints whose content does not matter.
public struct Empty: Decodable, Sendable, Equatable {
    /// Creates an empty value.
    public init() {}

    /// Decodes from any content.
    public init(from _: any Decoder) throws {}
}
