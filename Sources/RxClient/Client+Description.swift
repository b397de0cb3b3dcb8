import RxHTTP

extension Client: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The base URL without user info and query.
    public var description: String { "client of \(servers.main.withoutSecrets)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
