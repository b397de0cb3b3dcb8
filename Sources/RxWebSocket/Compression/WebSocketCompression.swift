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

/// The agreed parameters of `permessage-deflate` (RFC 7692 §7.1), and how this side compresses.
package struct PermessageDeflate: Sendable, Hashable {
    /// The name of the extension.
    package static let name = "permessage-deflate"

    /// Whether the server's messages may refer to its earlier ones.
    package var serverKeepsContext = true
    /// Whether the client's messages may refer to its earlier ones.
    package var clientKeepsContext = true
    /// The base-2 logarithm of the server's window, 8 to 15.
    package var serverWindowBits = 15
    /// The base-2 logarithm of the client's window, 8 to 15.
    package var clientWindowBits = 15
    /// The effort of this side, 1 to 9.
    package var level = 6
    /// The size of the smallest message that this side compresses.
    package var minimumSize = 0

    package init() {}

    /// The parameters without what was negotiated.
    private init(level: Int, minimumSize: Int) {
        self.level = min(max(level, 1), 9)
        self.minimumSize = minimumSize
    }

    // MARK: - The client's side

    /// The value of `Sec-WebSocket-Extensions` in a request. ``init(agreed:to:)`` checks the response
    /// against the same settings.
    static func offer(_ compression: WebSocketCompression) -> String {
        var parts = [name]
        if !compression.keepsServerContext { parts.append("server_no_context_takeover") }
        if !compression.keepsClientContext { parts.append("client_no_context_takeover") }
        let (server, client) = (compression.serverBits, compression.clientBits)
        if server < 15 { parts.append("server_max_window_bits=\(server)") }
        parts.append(client < 15 ? "client_max_window_bits=\(client)" : "client_max_window_bits")
        return parts.joined(separator: "; ")
    }

    /// Verifies what a server agreed to.
    init(
        agreed item: WebSocketExtension, to compression: WebSocketCompression
    ) throws(WebSocketHandshakeError) {
        guard let parameters = DeflateParameters(item, isOffer: false) else {
            throw .extensions("permessage-deflate has a parameter that is unknown, invalid or repeated")
        }
        guard compression.keepsServerContext || parameters.dropsServerContext else {
            throw .extensions("server_no_context_takeover was offered and is missing")
        }
        let serverBits = parameters.serverBits ?? 15
        guard serverBits <= compression.serverBits else {
            throw .extensions("server_max_window_bits is \(serverBits), above the offer")
        }
        let clientBits = parameters.clientBits ?? compression.clientBits
        guard clientBits <= compression.clientBits else {
            throw .extensions("client_max_window_bits is \(clientBits), above the offer")
        }
        self.init(level: compression.level, minimumSize: compression.minimumSize)
        serverKeepsContext = !parameters.dropsServerContext
        clientKeepsContext = compression.keepsClientContext && !parameters.dropsClientContext
        serverWindowBits = serverBits
        clientWindowBits = clientBits
    }

    // MARK: - The server's side

    /// Accepts an offer, with the value of `Sec-WebSocket-Extensions` for the response; `nil` declines it.
    static func accept(
        _ item: WebSocketExtension, by compression: WebSocketCompression
    ) -> (agreed: PermessageDeflate, response: String)? {
        guard let offer = DeflateParameters(item, isOffer: true) else { return nil }
        var agreed = PermessageDeflate(level: compression.level, minimumSize: compression.minimumSize)
        var parts = [name]
        if offer.dropsServerContext || !compression.keepsServerContext {
            agreed.serverKeepsContext = false
            parts.append("server_no_context_takeover")
        }
        if offer.dropsClientContext || !compression.keepsClientContext {
            agreed.clientKeepsContext = false
            parts.append("client_no_context_takeover")
        }
        agreed.serverWindowBits = min(compression.serverBits, offer.serverBits ?? 15)
        if agreed.serverWindowBits < 15 || offer.serverBits != nil {
            parts.append("server_max_window_bits=\(agreed.serverWindowBits)")
        }
        // A server may limit the client's window only if the client offers it (RFC 7692 §7.1.2.2).
        if offer.limitsClient {
            agreed.clientWindowBits = min(compression.clientBits, offer.clientBits ?? 15)
            if agreed.clientWindowBits < 15 {
                parts.append("client_max_window_bits=\(agreed.clientWindowBits)")
            }
        }
        return (agreed, parts.joined(separator: "; "))
    }
}

extension WebSocketCompression {
    fileprivate var serverBits: Int { min(max(serverWindowBits, 8), 15) }
    fileprivate var clientBits: Int { min(max(clientWindowBits, 9), 15) }
}

/// The parameters of `permessage-deflate` in an offer or a response, checked one by one (RFC 7692 §7.1).
struct DeflateParameters {
    private(set) var dropsServerContext = false
    private(set) var dropsClientContext = false
    private(set) var serverBits: Int?
    private(set) var clientBits: Int?
    /// Whether `client_max_window_bits` is there, with or without a value.
    private(set) var limitsClient = false

    /// Fails if a parameter is unknown, repeated, or has a value that it must not have.
    init?(_ item: WebSocketExtension, isOffer: Bool) {
        for parameter in item.parameters {
            switch parameter.name {
            case "server_no_context_takeover" where !dropsServerContext && parameter.value == nil:
                dropsServerContext = true
            case "client_no_context_takeover" where !dropsClientContext && parameter.value == nil:
                dropsClientContext = true
            case "server_max_window_bits" where serverBits == nil:
                guard let bits = Self.bits(parameter.value) else { return nil }
                serverBits = bits
            case "client_max_window_bits" where !limitsClient:
                limitsClient = true
                // Only an offer may leave the value out.
                if isOffer, parameter.value == nil { continue }
                guard let bits = Self.bits(parameter.value) else { return nil }
                clientBits = bits
            default: return nil
            }
        }
    }

    /// A decimal number from 8 to 15 without leading zeros.
    private static func bits(_ text: String?) -> Int? {
        guard let text, let bits = (8...15).first(where: { String($0) == text }) else { return nil }
        return bits
    }
}
