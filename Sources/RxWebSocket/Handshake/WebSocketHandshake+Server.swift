package import HTTPTypes

extension WebSocketHandshake {
    /// Answers a handshake as a server does (RFC 6455 §4.2), for peers in tests.
    ///
    /// - Parameters:
    ///   - fields: the fields of the request.
    ///   - subprotocols: the subprotocols that the server knows; it chooses the first one that is offered.
    ///   - compression: the compression that the server accepts.
    /// - Returns: the fields of the response with status 101, and the agreement.
    /// - Throws: a ``WebSocketHandshakeError`` if the request does not ask for a WebSocket.
    package static func answer(
        to fields: HTTPFields, subprotocols: [String] = [], compression: WebSocketCompression = .off
    ) throws(WebSocketHandshakeError) -> (fields: HTTPFields, agreement: WebSocketAgreement) {
        try require("websocket", in: .upgrade, of: fields)
        try require("upgrade", in: .connection, of: fields)
        guard fields[.secWebSocketVersion] == "13" else {
            throw .field("Sec-WebSocket-Version", value: fields[.secWebSocketVersion])
        }
        let keys = fields[values: .secWebSocketKey]
        guard keys.count == 1, let key = keys.first, Base64.byteCount(of: key) == 16 else {
            throw .field("Sec-WebSocket-Key", value: fields[.secWebSocketKey])
        }
        let offered = (fields[.secWebSocketProtocol] ?? "").split(separator: ",").map(\.trimmed)
        let chosen = subprotocols.first { offered.contains($0[...]) }
        let deflate = compression.isOffered ? accepted(in: fields, by: compression) : nil

        var response = HTTPFields()
        response[.upgrade] = "websocket"
        response[.connection] = "Upgrade"
        response[.secWebSocketAccept] = accept(for: key)
        response[.secWebSocketProtocol] = chosen
        response[.secWebSocketExtensions] = deflate?.response
        return (response, WebSocketAgreement(subprotocol: chosen, deflate: deflate?.agreed))
    }

    /// The first offer of compression that can be accepted; others are declined (RFC 7692 §5.1).
    private static func accepted(
        in fields: HTTPFields, by compression: WebSocketCompression
    ) -> (agreed: PermessageDeflate, response: String)? {
        fields[values: .secWebSocketExtensions].lazy.flatMap { WebSocketExtension.list($0) ?? [] }
            .filter { $0.name == PermessageDeflate.name }
            .compactMap { PermessageDeflate.accept($0, by: compression) }.first
    }
}
