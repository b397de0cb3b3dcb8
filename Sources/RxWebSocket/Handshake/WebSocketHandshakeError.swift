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
        // Subprotocols are not shown: some servers expect a token among them.
        switch self {
        case .status(let code): "the server answered \(code) instead of 101 Switching Protocols"
        case .field(let name, nil): "the field \(name) is missing"
        case .field(let name, let value?): "the field \(name) has the value \(value.debugDescription)"
        case .acceptKey: "Sec-WebSocket-Accept does not match the key that was sent"
        case .subprotocol: "the server chose a subprotocol that was not offered, or more than one"
        case .extensions(let reason): "Sec-WebSocket-Extensions: \(reason)"
        case .invalidSubprotocol(let index): "the subprotocol at index \(index) is invalid or listed twice"
        }
    }
}
