import HTTPTypes
import RxHTTP

extension CacheEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Key and size.
    public var description: String { "\(metadata.key), \(body.count) bytes" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CacheEntry.Metadata: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Key and status.
    public var description: String { "\(key), \(head.status.code)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
