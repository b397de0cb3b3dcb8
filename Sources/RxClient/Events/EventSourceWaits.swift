/// How long an event source waits before it connects again.
public struct EventSourceWaits: Sendable, Hashable {
    /// The wait until the server says something else (`retry`). Default 3 s.
    public var first: Duration
    /// The shortest wait, also if the server asks for less. Default 0.1 s.
    public var shortest: Duration
    /// The longest wait after connections that failed, unless the server's own is longer. Default 60 s.
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
