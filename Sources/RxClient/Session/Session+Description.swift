extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether there is a credential.
    public var description: String {
        credential == nil ? "session without credential" : "session with a credential"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
