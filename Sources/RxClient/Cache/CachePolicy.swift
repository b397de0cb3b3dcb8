/// Which answers are kept and used again. Failures never are: neither a status that is no success nor an envelope
/// that says no nor an answer that could not be decoded.
public enum CachePolicy: Sendable, Hashable {
    /// None. Each subscription sends its own request.
    case none
    /// Those that the server lets a private cache keep, for as long as it lets them (RFC 9111): GET alone.
    case http
    /// Answers to GET, for this time, whatever the server says. An app's own choice.
    case time(Duration)
    /// Answers to POST, for this time. Found again by URL and parameters, in whatever order those are written. For
    /// searches and the like, which change nothing: a request that is answered from the cache does not reach the
    /// server.
    case post(Duration)
}
