/// An observation that a case waits for.
enum Event: Hashable, Sendable {
    case text(Octets)
    case binary(Octets)
    case pong(Octets)
    /// A wait of the script passed with the connection open.
    case waited(String)
}

extension Event: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let payload): "text \(payload)"
        case .binary(let payload): "binary \(payload)"
        case .pong(let payload): "pong \(payload)"
        case .waited(let name): "wait \(name)"
        }
    }
}
