import RxHTTP

extension ClientConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The base URL without user info and query.
    public var description: String {
        "configuration for \(baseURL.withoutSecrets)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
