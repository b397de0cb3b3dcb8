package import HTTPTypes

/// The client's side of an opening handshake (RFC 6455 §4.1): the fields of the request, and the
/// verification of the response.
package struct WebSocketHandshake: Sendable {
    /// The value of `Sec-WebSocket-Key`: 16 random bytes in base64.
    package let key: String
    /// The offered subprotocols, in the order of preference.
    package let subprotocols: [String]
    /// The offered compression.
    package let compression: WebSocketCompression

    /// Creates a handshake with a new key.
    ///
    /// - Parameters:
    ///   - subprotocols: the subprotocols to offer, in the order of preference.
    ///   - compression: the compression to offer.
    ///   - random: the source of the key.
    /// - Throws: ``WebSocketHandshakeError/invalidSubprotocol(at:)``.
    package init(
        subprotocols: [String] = [], compression: WebSocketCompression = .off,
        using random: inout some RandomNumberGenerator
    ) throws(WebSocketHandshakeError) {
        var offered: Set<String> = []
        for (index, name) in subprotocols.enumerated()
        where !name.isToken || !offered.insert(name).inserted {
            throw .invalidSubprotocol(at: index)
        }
        let words: [UInt64] = [random.next(), random.next()]
        self.init(
            key: Base64.text(of: words.flatMap(\.bigEndianBytes)), subprotocols: subprotocols,
            compression: compression)
    }

    /// Creates a handshake with a known key.
    init(key: String, subprotocols: [String] = [], compression: WebSocketCompression = .off) {
        self.key = key
        self.subprotocols = subprotocols
        self.compression = compression
    }

    /// The fields that turn a GET request into a handshake.
    package var fields: HTTPFields {
        var fields = HTTPFields()
        fields[.upgrade] = "websocket"
        fields[.connection] = "Upgrade"
        fields[.secWebSocketVersion] = "13"
        fields[.secWebSocketKey] = key
        if !subprotocols.isEmpty { fields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
        if compression.isOffered { fields[.secWebSocketExtensions] = PermessageDeflate.offer(compression) }
        return fields
    }

    /// Verifies the response.
    ///
    /// - Throws: a ``WebSocketHandshakeError`` if the connection must not be used.
    package func verify(
        status: Int, fields: HTTPFields
    ) throws(WebSocketHandshakeError) -> WebSocketAgreement {
        guard status == 101 else { throw .status(status) }
        try Self.require("websocket", in: .upgrade, of: fields)
        try Self.require("upgrade", in: .connection, of: fields)
        guard fields[values: .secWebSocketAccept] == [Self.accept(for: key)] else { throw .acceptKey }
        return WebSocketAgreement(
            subprotocol: try agreedSubprotocol(in: fields), deflate: try agreedDeflate(in: fields))
    }

    private func agreedSubprotocol(in fields: HTTPFields) throws(WebSocketHandshakeError) -> String? {
        let names = fields[values: .secWebSocketProtocol]
        guard let name = names.first else { return nil }
        guard names.count == 1, subprotocols.contains(name) else { throw .subprotocol }
        return name
    }

    private func agreedDeflate(in fields: HTTPFields) throws(WebSocketHandshakeError) -> PermessageDeflate? {
        var agreed: PermessageDeflate?
        for text in fields[values: .secWebSocketExtensions] {
            guard let list = WebSocketExtension.list(text) else { throw .extensions("\(text) is malformed") }
            for item in list {
                guard compression.isOffered, item.name == PermessageDeflate.name else {
                    throw .extensions("\(item.name) was not offered")
                }
                guard agreed == nil else { throw .extensions("\(item.name) is listed twice") }
                agreed = try PermessageDeflate(agreed: item, to: compression)
            }
        }
        return agreed
    }

    /// Demands that a list in a field has a token, in any case.
    static func require(
        _ token: String, in name: HTTPField.Name, of fields: HTTPFields
    ) throws(WebSocketHandshakeError) {
        let text = fields[name]
        let tokens = text?.split(separator: ",") ?? []
        guard tokens.contains(where: { $0.trimmed.lowercased() == token }) else {
            throw .field(name.rawName, value: text)
        }
    }

    /// The value of `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
    package static func accept(for key: String) -> String {
        Base64.text(of: SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}
