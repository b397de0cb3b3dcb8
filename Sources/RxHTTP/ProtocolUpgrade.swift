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
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// Creates a change to a protocol that sends `output`. The header fields of the request name the protocol.
    public init(output: Observable<[UInt8], NetworkError>) { self.output = output }
}

extension ProtocolUpgrade: Hashable {
    /// Whether one is a copy of the other.
    public static func == (first: ProtocolUpgrade, second: ProtocolUpgrade) -> Bool {
        first.identity === second.identity
    }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
