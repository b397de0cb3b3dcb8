package import HTTPTypes

/// An opening handshake (RFC 6455 §4): the fields of the request, the verification of the response, and the answer of a
/// server.
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
        let (accepted, wanted) = (fields[values: .secWebSocketAccept], Self.accept(for: key))
        guard accepted.count == 1, accepted[0].utf8.elementsEqual(wanted.utf8) else { throw .acceptKey }
        return WebSocketAgreement(
            subprotocol: try agreedSubprotocol(in: fields), deflate: try agreedDeflate(in: fields))
    }

    private func agreedSubprotocol(in fields: HTTPFields) throws(WebSocketHandshakeError) -> String? {
        let names = fields[values: .secWebSocketProtocol]
        guard let name = names.first else { return nil }
        let isOffered = subprotocols.contains { $0.utf8.elementsEqual(name.utf8) }
        guard names.count == 1, isOffered else { throw .subprotocol }
        return name
    }

    private func agreedDeflate(in fields: HTTPFields) throws(WebSocketHandshakeError) -> PermessageDeflate? {
        var agreed: PermessageDeflate?
        for text in fields[values: .secWebSocketExtensions] {
            guard let list = WebSocketExtension.list(text) else { throw .extensions("the list is malformed") }
            for item in list {
                guard compression.isOffered, item.name == PermessageDeflate.name else {
                    throw .extensions("one was not offered")
                }
                guard agreed == nil else { throw .extensions("\(item.name) is listed twice") }
                agreed = try PermessageDeflate(agreed: item, to: compression)
            }
        }
        return agreed
    }

    /// Demands that a list in a field has a token, in any case. Found by bytes: the time to compare texts grows with
    /// the square of the number of combining marks in a row.
    ///
    /// - Parameter token: the token in lower case.
    static func require(
        _ token: String, in name: HTTPField.Name, of fields: HTTPFields
    ) throws(WebSocketHandshakeError) {
        let text = fields[name]
        let elements = (text ?? "").utf8.split(separator: UInt8(ascii: ","))
        let isListed = elements.contains { element in
            let words = element.split { $0 == 0x20 || $0 == 0x09 }
            guard words.count == 1, words[0].count == token.utf8.count else { return false }
            return Substring(words[0]).lowercased() == token
        }
        guard isListed else { throw .field(name.rawName, value: text) }
    }

    /// The value of `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
    package static func accept(for key: String) -> String {
        Base64.text(of: HandshakeHash.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

extension WebSocketHandshake {
    /// Answers a handshake as a server does (RFC 6455 §4.2).
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

/// The result of a handshake.
package struct WebSocketAgreement: Sendable, Hashable {
    /// The subprotocol that the server chose; `nil` for none.
    package var subprotocol: String?
    /// The parameters of `permessage-deflate`; `nil` if messages are not compressed.
    package var deflate: PermessageDeflate?

    package init(subprotocol: String? = nil, deflate: PermessageDeflate? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

/// The reason why a response does not open a WebSocket, or a request does not ask for one.
package enum WebSocketHandshakeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The status is not 101.
    case status(Int)
    /// The field with this name is missing or has a value that the protocol does not allow here.
    case field(String, value: String?)
    /// `Sec-WebSocket-Accept` does not belong to the key that was sent.
    case acceptKey
    /// The server chose a subprotocol that was not offered, or more than one.
    case subprotocol
    /// The server's extensions cannot be used; the text says why.
    case extensions(String)
    /// A subprotocol to be offered, the one at this index, is not a token or is listed twice.
    case invalidSubprotocol(at: Int)

    package var description: String {
        // Subprotocols are not shown: some servers expect a token among them. Nor is other text of the peer, which may
        // contain anything: the client's `NetworkError` and the inspector's responses have this text.
        switch self {
        case .status(let code): "the server answered \(code) instead of 101 Switching Protocols"
        case .field(let name, nil): "the field \(name) is missing"
        case .field(let name, _?): "the field \(name) has a value that is not allowed here"
        case .acceptKey: "Sec-WebSocket-Accept does not match the key that was sent"
        case .subprotocol: "the server chose a subprotocol that was not offered, or more than one"
        case .extensions(let reason): "Sec-WebSocket-Extensions: \(reason)"
        case .invalidSubprotocol(let index): "the subprotocol at index \(index) is invalid or listed twice"
        }
    }
}
