/// The compression of a request's body.
public enum Compression: Sendable {
    /// No compression.
    case identity
    /// gzip (RFC 9110 §8.4.1.3), which the transport names in `Content-Encoding`. A body in memory keeps a
    /// `Content-Length`, which counts the compressed bytes; a streamed body is sent in chunks. Not every
    /// server accepts compressed or chunked bodies; check yours first.
    case gzip
}
