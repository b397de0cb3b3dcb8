/// The responses that are stored and reused. Failures never are: no error status, no failed envelope, and no response
/// that did not decode.
public enum CachePolicy: Sendable, Hashable {
    /// None: each subscription sends its own request.
    case never
    /// Those that the server lets a private cache keep, for as long as it lets them (RFC 9111): GET alone.
    case http
    /// Responses to GET, for this time, regardless of the server's fields. An app's own choice.
    case time(Duration)
    /// Responses to POST, for this time. Found by URL and parameters, in any order. For searches and the like, which
    /// change nothing: a request with a cached response does not reach the server.
    case post(Duration)
}
