extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether there is a credential.
    public var description: String {
        credential == nil ? "session without credential" : "session with a credential"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
