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

    // MARK: The client's side

    /// The value of `Sec-WebSocket-Extensions` in a request.
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

    // MARK: The server's side

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
