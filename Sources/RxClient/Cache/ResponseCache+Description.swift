import RxCache

extension ResponseCache: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The amount of stored data.
    public var description: String {
        "cache of \(store.usage.entries) entries, \(store.usage.bytes) bytes"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
