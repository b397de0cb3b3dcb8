/// Nothing of interest: the output of endpoints whose content does not matter.
public struct Empty: Decodable, Sendable, Equatable {
    /// Creates nothing.
    public init() {}

    /// Decodes anything.
    public init(from _: any Decoder) throws {}
}
