/// The times and byte counts of one transfer. Each time is the interval from leaving the queue to the end of
/// a phase; the phases of a reused connection are zero.
public struct TransferMetrics: Sendable, Equatable {
    /// The wait for a free connection, before all other phases; see ``Timeouts/queue``.
    public var queued: Duration
    /// Until the name was resolved.
    public var resolved: Duration
    /// Until the server, or the proxy, accepted the connection.
    public var connected: Duration
    /// Until the TLS handshake was complete; zero without TLS.
    public var secured: Duration
    /// Until the request was handed to the network: the last byte of a streamed body, otherwise the first
    /// byte.
    public var sent: Duration
    /// Until the first byte of the response, including informational ones.
    public var firstByte: Duration
    /// Until the last byte.
    public var total: Duration

    /// Bytes of the request's body that were sent.
    public var bodyBytesSent: Int
    /// Bytes of all header lines received: of informational responses, the response and its trailers.
    public var headBytesReceived: Int
    /// Bytes of the response's body as received, before decoding.
    public var bodyBytesReceived: Int
    /// Bytes of the response's body as delivered, after decoding.
    public var bodyBytesDecoded: Int

    /// Whether an open connection was reused.
    public var isConnectionReused: Bool
    /// The HTTP version of the response; `nil` if unknown.
    public var httpVersion: HTTPVersion?
    /// The numeric address that the connection leads to, of the proxy if there is one: `192.0.2.7`, `2001:db8::7`;
    /// the path of a Unix socket; `nil` if unknown.
    public var remoteAddress: String?
    /// The port at that address.
    public var remotePort: Int
    /// The local port. Together with remote address and port it identifies the connection among the open
    /// ones.
    public var localPort: Int

    /// Creates metrics.
    public init(
        queued: Duration = .zero, resolved: Duration = .zero, connected: Duration = .zero,
        secured: Duration = .zero, sent: Duration = .zero, firstByte: Duration = .zero,
        total: Duration = .zero, bodyBytesSent: Int = 0, headBytesReceived: Int = 0,
        bodyBytesReceived: Int = 0, bodyBytesDecoded: Int = 0, isConnectionReused: Bool = false,
        httpVersion: HTTPVersion? = nil, remoteAddress: String? = nil, remotePort: Int = 0, localPort: Int = 0
    ) {
        self.queued = queued
        self.resolved = resolved
        self.connected = connected
        self.secured = secured
        self.sent = sent
        self.firstByte = firstByte
        self.total = total
        self.bodyBytesSent = bodyBytesSent
        self.headBytesReceived = headBytesReceived
        self.bodyBytesReceived = bodyBytesReceived
        self.bodyBytesDecoded = bodyBytesDecoded
        self.isConnectionReused = isConnectionReused
        self.httpVersion = httpVersion
        self.remoteAddress = remoteAddress
        self.remotePort = remotePort
        self.localPort = localPort
    }
}
