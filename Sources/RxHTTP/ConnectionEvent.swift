/// A change of one of a transport's connections; see ``Transport/connections``.
///
/// Each connection begins with ``Kind/opened``, when its first request is sent, then changes between ``Kind/idle`` and
/// ``Kind/active``, and ends with ``Kind/closed(after:)``.
public struct ConnectionEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The connection has been made, and its first request is about to be sent.
        case opened
        /// No request uses the connection; it stays open for later ones.
        case idle
        /// A request uses the idle connection.
        case active
        /// The connection is closed, this long after it was opened.
        case closed(after: Duration)
    }

    /// The kind of the event.
    public var kind: Kind
    /// Identifies the connection among those of the transport.
    public var connection: Int
    /// The origin of the connection's first request.
    public var origin: Origin
    /// The numeric address that the connection leads to, of the proxy if there is one.
    public var remoteAddress: String?

    /// Creates an event.
    public init(_ kind: Kind, of connection: Int, to origin: Origin, remoteAddress: String? = nil) {
        self.kind = kind
        self.connection = connection
        self.origin = origin
        self.remoteAddress = remoteAddress
    }
}
