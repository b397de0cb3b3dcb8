/// What happens to values that come faster than they are taken.
public enum BufferPolicy<Failure: Error>: Sendable {
    /// When `high` values wait the stream is paused, and goes on when they are down to `low`. Sources that
    /// cannot pause (signals, timers) are buffered without limit.
    case suspend(high: Int, low: Int)
    /// The latest so many are kept, older ones dropped.
    case latest(Int)
    /// The first so many are kept, newer ones dropped.
    case oldest(Int)
    /// All are kept.
    case unbounded
    /// Up to `limit` are kept. One more ends the stream: it is cancelled, and `error` comes after those that
    /// wait.
    case fail(above: Int, with: Failure)
}

extension BufferPolicy: Equatable where Failure: Equatable {}
