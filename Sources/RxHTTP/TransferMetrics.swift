/// What one transfer took. Times count from its start.
public struct TransferMetrics: Sendable, Equatable {
    /// Until the name was resolved.
    public var resolved: Duration
    /// Until the connection, TLS included, was ready; zero on a reused one.
    public var connected: Duration
    /// Until the first byte of the answer.
    public var firstByte: Duration
    /// Until the last byte.
    public var total: Duration
    /// Whether an open connection was used again.
    public var isConnectionReused: Bool

    /// Creates metrics.
    public init(
        resolved: Duration = .zero, connected: Duration = .zero, firstByte: Duration = .zero,
        total: Duration = .zero, isConnectionReused: Bool = false
    ) {
        self.resolved = resolved
        self.connected = connected
        self.firstByte = firstByte
        self.total = total
        self.isConnectionReused = isConnectionReused
    }
}
