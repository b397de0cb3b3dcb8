import RxCache
public import RxHTTP

extension ResponseCache: RedactedDescription {
    /// The amount of stored data.
    public var description: String {
        "cache of \(store.usage.entries) entries, \(store.usage.bytes) bytes"
    }
}
