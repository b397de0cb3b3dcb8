/// How a cache contributed to a response.
public enum CacheUse: String, Sendable, Hashable {
    /// A stored response, fresh enough to be used without a request.
    case fresh
    /// A stored response that the server confirmed with a 304.
    case revalidated
    /// A stale stored response, used while a newer one is being fetched, because the server failed, or
    /// because the request allows it.
    case stale
    /// The server's response to an equal request that was already in flight.
    case joined
}
