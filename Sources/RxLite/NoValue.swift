/// The error of `value()` for a stream that finishes without a value.
public struct NoValue: Error, Hashable {
    /// Creates the error.
    public init() {}
}

extension NoValue: CustomStringConvertible {
    /// One line.
    public var description: String { "the stream finished without a value" }
}
