/// The part of a cache in a response.
public enum CacheUse: String, Sendable, Hashable {
    /// A stored response, fresh enough to be used without a request.
    case fresh
    /// A stored response that the server has just confirmed with a 304.
    case revalidated
    /// A stale stored response: while a newer one is on its way, because the server failed, or because the request did
    /// not mind.
    case stale
    /// The server's response to an equal request that was already under way.
    case joined
}
