/// Nothing of interest: the output of endpoints whose answer, if it has content at all, does not matter.
public struct Empty: Decodable, Sendable, Equatable {
    /// Creates nothing.
    public init() {}

    /// Decodes anything.
    public init(from _: any Decoder) throws {}
}
