extension Multipart: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The descriptions of the parts.
    public var description: String {
        "form of " + parts.map { "(\($0))" }.joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
