import RxHTTP

extension Servers: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The base URLs without user info and query.
    public var description: String {
        main.withoutSecrets + (standby.map { ", standby \($0.withoutSecrets)" } ?? "")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
