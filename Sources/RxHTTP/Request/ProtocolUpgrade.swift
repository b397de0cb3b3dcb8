public import RxLite

/// The change to another protocol that a request asks for on its connection (RFC 9110 §7.8).
///
/// If the server agrees, its response has the status 101 and no end: ``TransferEvent/chunk(_:)`` then carries
/// the bytes of the other protocol, and ``output`` those of this side. Any other response is an ordinary one.
/// Such a request goes over HTTP/1.1, on a connection that is used for nothing else.
public struct ProtocolUpgrade: Sendable {
    /// The bytes to send after the change, subscribed to once for each exchange that is upgraded. Paused while
    /// the network is slow, and cancelled when the exchange ends. Its failure is the failure of the exchange;
    /// its end leaves the connection open.
    public let output: Observable<[UInt8], NetworkError>
    /// The first bytes of a protocol that needs no agreement, in place of the head of the request; `nil` to ask the
    /// server by HTTP.
    package let opening: [UInt8]?
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// Creates a change to a protocol that sends `output`. The header fields of the request name the protocol.
    public init(output: Observable<[UInt8], NetworkError>) {
        self.output = output
        opening = nil
    }

    /// Creates a connection that never speaks HTTP: to the host and port of the request's URL, over TLS if that is
    /// https, and through the transport's proxy. A head with the status 101, which no server has sent, tells that it has
    /// been made.
    ///
    /// - Parameters:
    ///   - opening: the first bytes to send, at least one.
    ///   - output: the bytes to send after them.
    package init(opening: [UInt8], output: Observable<[UInt8], NetworkError>) {
        self.output = output
        self.opening = opening
    }
}

extension ProtocolUpgrade: Hashable {
    /// Whether one is a copy of the other.
    public static func == (first: ProtocolUpgrade, second: ProtocolUpgrade) -> Bool {
        first.identity === second.identity
    }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
