/// A message of a WebSocket (RFC 6455 §5.6), joined from its fragments and decompressed.
public enum WebSocketMessage: Sendable, Hashable {
    /// A text; on the wire it is UTF-8.
    case text(String)
    /// Bytes without a meaning of their own to the protocol.
    case binary([UInt8])
}

extension WebSocketMessage {
    /// The size in bytes, without frames and compression.
    public var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
