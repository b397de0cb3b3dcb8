public import HTTPTypes

/// An event of a running exchange.
public enum TransferEvent: Sendable {
    /// The bytes of the request body handed to the network so far, and the total; `nil` if the total is not
    /// known in advance.
    case uploaded(bytes: Int64, of: Int64?)
    /// The response with this head redirects, and this request is sent instead. Only
    /// ``Transport/send(_:following:)`` sends this event; it also announces with it that a request goes to
    /// https instead.
    case redirected(Request, by: ResponseHead)
    /// An informational response before the final one: 100 and 102 to 199 (RFC 9110 §15.2).
    case interim(ResponseHead)
    /// The status line and header fields of the final response.
    case head(ResponseHead)
    /// The next chunk of the body, decoded unless ``Request/decodesContent`` is false.
    case chunk([UInt8])
    /// The fields after the body (RFC 9110 §6.5), if any.
    case trailers(HTTPFields)
    /// The body is complete.
    case finished(TransferMetrics)
}
