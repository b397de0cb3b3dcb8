import RxHTTP

extension Servers: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The base URLs without user info and query.
    public var description: String {
        main.withoutSecrets + (standby.map { ", standby \($0.withoutSecrets)" } ?? "")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
