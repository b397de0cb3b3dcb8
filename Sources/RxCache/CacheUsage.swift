/// The contents of a ``CacheStore``.
public struct CacheUsage: Sendable, Hashable {
    /// The number of responses.
    public var entries: Int
    /// Their size in bytes: bodies, heads, keys.
    public var bytes: Int
    /// The number of responses evicted to make room since the store was created.
    public var evicted: Int

    /// Creates a usage.
    public init(entries: Int = 0, bytes: Int = 0, evicted: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.evicted = evicted
    }
}
