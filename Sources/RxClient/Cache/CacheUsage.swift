/// What a ``CacheStore`` holds.
public struct CacheUsage: Sendable, Hashable {
    /// How many answers there are.
    public var entries: Int
    /// What they take: bodies, heads, keys.
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
