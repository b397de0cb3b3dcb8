extension Multipart: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The parts as they describe themselves.
    public var description: String {
        "form of " + parts.map { "(\($0))" }.joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
