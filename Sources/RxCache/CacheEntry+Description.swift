import HTTPTypes
public import RxHTTP

extension CacheEntry: RedactedDescription {
    /// Key and size.
    public var description: String { "\(metadata.key), \(body.count) bytes" }
}

extension CacheEntry.Metadata: RedactedDescription {
    /// Key and status.
    public var description: String { "\(key), \(head.status.code)" }
}
