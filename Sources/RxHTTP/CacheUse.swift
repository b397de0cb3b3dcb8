/// What a cache had to do with an answer.
public enum CacheUse: String, Sendable, Hashable {
    /// It was kept, and good enough to be used without asking the server.
    case fresh
    /// It was kept, and the server has just confirmed it with a 304.
    case revalidated
    /// It was kept, and used though its time was over: while a newer one is on its way, because the server failed, or
    /// because the request did not mind.
    case stale
    /// It is the server's answer to another request for the same, which was under way already.
    case joined
}
