/// What a cache has done since it was made, and what it holds.
public struct CacheStatistics: Sendable, Hashable {
    /// Requests answered by what is kept and fresh, without asking the server.
    public var hits = 0
    /// Requests for which nothing was kept.
    public var misses = 0
    /// Kept answers that the server confirmed with a 304.
    public var revalidated = 0
    /// Requests answered by what is kept and stale.
    public var staleServed = 0
    /// Requests that joined another one for the same.
    public var joined = 0
    /// Answers that were handed to the store.
    public var stored = 0
    /// Operations of the store that failed.
    public var storeFailures = 0
    /// What the store holds, and how many it has dropped to make room.
    public var usage = CacheUsage()

    /// Nothing so far.
    public init() {}
}
