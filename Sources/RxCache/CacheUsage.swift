/// The contents of a ``CacheStore``.
public struct CacheUsage: Sendable, Hashable {
    /// The number of responses.
    public var entries: Int
    /// Their size: bodies, heads, keys.
    public var bytes: Int
    /// How many have been dropped since the store was made, so that others find room.
    public var evicted: Int

    /// Creates it.
    public init(entries: Int = 0, bytes: Int = 0, evicted: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.evicted = evicted
    }
}
