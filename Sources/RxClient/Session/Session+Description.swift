public import RxHTTP

extension Session: RedactedDescription {
    /// Whether there is a credential.
    public var description: String {
        credential == nil ? "session without credential" : "session with a credential"
    }
}
