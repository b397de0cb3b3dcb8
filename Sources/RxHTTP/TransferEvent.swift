public import HTTPTypes

/// An event of a running request.
public enum TransferEvent: Sendable {
    /// Bytes of the request body that have been handed to the network so far, and all there are to send; `nil`
    /// where that is not known in advance.
    case uploaded(bytes: Int64, of: Int64?)
    /// A response, of which this is the head, redirected, and this request is sent instead. Comes from
    /// ``Transport/send(_:following:)`` only, which also announces with it that a request goes to https instead.
    case redirected(Request, by: ResponseHead)
    /// An informational response before the final one: 100 and 102 to 199 (RFC 9110 §15.2).
    case interim(ResponseHead)
    /// The status line and header fields of the final response.
    case head(ResponseHead)
    /// The next piece of the body, decoded unless ``Request/decodesContent`` says otherwise.
    case chunk([UInt8])
    /// The fields that came after the body (RFC 9110 §6.5), if there were any.
    case trailers(HTTPFields)
    /// The body is complete.
    case finished(TransferMetrics)
}
