/// The compression that a WebSocket offers in its handshake: none, or `permessage-deflate` (RFC 7692).
///
/// The server decides whether it agrees. Compressing secrets together with text that an attacker can choose
/// reveals the secrets by the length of the messages; RFC 7692 §8 advises against compression there.
public struct WebSocketCompression: Sendable, Hashable {
    /// Whether compression is offered.
    public var isOffered: Bool
    /// Whether the server may refer to earlier messages when it compresses. `false` offers
    /// `server_no_context_takeover`, which saves memory here and costs size on the wire. Default `true`.
    public var keepsServerContext = true
    /// Whether this side refers to earlier messages when it compresses, unless the server forbids it.
    /// `false` offers `client_no_context_takeover`. Default `true`.
    public var keepsClientContext = true
    /// The base-2 logarithm of the server's window in bytes, 8 to 15; others are clamped. Default 15.
    public var serverWindowBits = 15
    /// The base-2 logarithm of the client's window in bytes, 9 to 15; others are clamped, because zlib cannot
    /// compress with 8. Default 15. Compressing takes 2^(bits + 2) bytes and 128 KiB for each connection.
    public var clientWindowBits = 15
    /// The effort, from 1 (fast) to 9 (small); others are clamped. Default 6.
    public var level = 6
    /// The size in bytes of the smallest message to be compressed. Default 64.
    public var minimumSize = 64

    /// Messages are not compressed.
    public static let off = WebSocketCompression(isOffered: false)
    /// Offers `permessage-deflate` with the default parameters.
    public static let permessageDeflate = WebSocketCompression(isOffered: true)

    /// Creates an offer with the default parameters.
    ///
    /// - Parameter isOffered: whether compression is offered. Default `true`.
    public init(isOffered: Bool = true) { self.isOffered = isOffered }
}
