/// The times and bytes of one transfer. Times count from leaving the queue, and each is that of the phase's end; the
/// phases of a connection that was there already are zero.
public struct TransferMetrics: Sendable, Equatable {
    /// How long it waited for a free connection before everything else; see ``Timeouts/queue``.
    public var queued: Duration
    /// Until the name was resolved.
    public var resolved: Duration
    /// Until the server, or the proxy, took the connection.
    public var connected: Duration
    /// Until TLS was agreed upon; zero without TLS.
    public var secured: Duration
    /// Until the request was handed to the network: for a streamed body its last byte, else the first.
    public var sent: Duration
    /// Until the first byte of the response, including informational ones.
    public var firstByte: Duration
    /// Until the last byte.
    public var total: Duration

    /// Bytes of the request's body that went out.
    public var bodyBytesSent: Int
    /// Bytes of all header lines that came: of informational responses, the response and its trailers.
    public var headBytesReceived: Int
    /// Bytes of the response's body as received, before decoding.
    public var bodyBytesReceived: Int
    /// Bytes of the response's body as delivered, after decoding.
    public var bodyBytesDecoded: Int

    /// Whether an open connection was used again.
    public var isConnectionReused: Bool
    /// The version that the response came in; `nil` where it is not known.
    public var httpVersion: HTTPVersion?
    /// The address that the connection leads to, the proxy's if there is one, as numbers: `192.0.2.7`,
    /// `2001:db8::7`; the path of a Unix socket; `nil` where it is not known.
    public var remoteAddress: String?
    /// The port at that address.
    public var remotePort: Int
    /// The port at this end. Together with address and port it names the connection among those that are open.
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
