/// The waits of an event source before it reconnects.
public struct EventSourceWaits: Sendable, Hashable {
    /// The wait until the server sends a reconnection time (`retry`). Default 3 s.
    public var first: Duration
    /// The shortest wait, even if the server asks for less. Default 0.1 s.
    public var shortest: Duration
    /// The longest wait after failed connections, unless the server's time is longer. Default 60 s.
    public var longest: Duration

    /// Creates waits.
    public init(
        first: Duration = .seconds(3), shortest: Duration = .milliseconds(100),
        longest: Duration = .seconds(60)
    ) {
        self.first = first
        self.shortest = shortest
        self.longest = longest
    }
}
