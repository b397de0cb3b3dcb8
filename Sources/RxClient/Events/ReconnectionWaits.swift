/// The waits of a stream before it connects again.
///
/// The wait is ``first``, or the server's reconnection time. With each failed connection in a row after the
/// first, it doubles, up to ``longest``. It has no random part.
public struct ReconnectionWaits: Sendable, Hashable {
    /// The delay, unless the server has sent a reconnection time (`retry`). Default 3 s.
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

    /// The wait after this number of connections in a row that failed: doubled each time, up to the longest.
    ///
    /// - Parameter named: the reconnection time of the server; `nil` if it has sent none.
    func delay(after failures: Int, named: Duration?) -> Duration {
        let base = max(named ?? first, shortest)
        return min(base * (1 << min(max(failures - 1, 0), 16)), max(base, longest))
    }
}
