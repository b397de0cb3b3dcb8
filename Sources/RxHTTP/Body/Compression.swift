/// How a request's body is made smaller on its way.
public enum Compression: Sendable {
    /// Not at all.
    case identity
    /// With gzip (RFC 9110 §8.4.1.3). The transport names it in `Content-Encoding`. Bytes in memory keep a
    /// `Content-Length`, that of the compressed ones; what is streamed is sent in chunks. Not every server takes
    /// either: ask it first.
    case gzip
}
