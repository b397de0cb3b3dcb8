/// What happens while a request is carried out.
public enum TransferEvent: Sendable {
    /// Bytes of the request body that have been handed to the network so far, and all there are to send.
    case uploaded(bytes: Int64, of: Int64)
    /// An answer redirected, and this request is sent instead. Comes from
    /// ``Transport/send(_:following:)`` only.
    case redirected(Request)
    /// The status line and header fields of the final answer.
    case head(ResponseHead)
    /// The next piece of the body, decoded.
    case chunk([UInt8])
    /// The body is complete.
    case finished(TransferMetrics)
}
