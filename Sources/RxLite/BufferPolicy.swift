/// The treatment of values that arrive faster than they are taken.
public enum BufferPolicy<Failure: Error>: Sendable {
    /// When `high` values wait the stream is paused, and resumes when `low` are left. Sources that cannot pause
    /// (signals, timers) are buffered without limit.
    case suspend(high: Int, low: Int)
    /// Keeps the latest values, up to this number, and drops older ones.
    case latest(Int)
    /// Keeps the first values, up to this number, and drops newer ones.
    case oldest(Int)
    /// Keeps all values.
    case unbounded
    // Indirect, so that the size of what keeps a policy does not depend on the error's.
    /// Up to `limit` are kept. One more ends the stream: it is cancelled, and `error` comes after those that
    /// wait.
    indirect case fail(above: Int, with: Failure)
}

extension BufferPolicy: Equatable where Failure: Equatable {}
