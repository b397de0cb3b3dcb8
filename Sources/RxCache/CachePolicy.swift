/// The responses that are stored and reused. Failures are never stored: no error status, no failed envelope,
/// and no response that could not be decoded.
public enum CachePolicy: Sendable, Hashable {
    /// No responses: each subscription sends a request.
    case never
    /// Responses to GET that the server lets a private cache store, for as long as it allows (RFC 9111).
    case http
    /// Responses to GET, for this time, regardless of the server's fields. The app decides that this is safe.
    case time(Duration)
    /// Responses to POST, for this time, found by URL and parameters in any order. Meant for searches and the
    /// like, which change nothing: a request with a cached response does not reach the server.
    case post(Duration)
}
