/// The counts of a cache since its creation, and its contents.
public struct CacheStatistics: Sendable, Hashable {
    /// Requests with a fresh stored response, which were not sent.
    public var hits = 0
    /// Requests without a stored response.
    public var misses = 0
    /// Stored responses that the server confirmed with a 304.
    public var revalidated = 0
    /// Requests with a stale stored response.
    public var staleServed = 0
    /// Requests that joined an equal request in flight.
    public var joined = 0
    /// Responses that were passed to the store.
    public var stored = 0
    /// Operations of the store that failed.
    public var storeFailures = 0
    /// The contents of the store, and the number of evicted responses.
    public var usage = CacheUsage()

    /// Creates statistics without any counts.
    public init() {}
}
