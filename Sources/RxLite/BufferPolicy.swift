/// The treatment of values that arrive faster than they are taken.
public enum BufferPolicy<Failure: Error>: Sendable {
    /// Pauses the stream when `high` values wait, and resumes it when `low` are left. Sources that cannot
    /// pause (signals, timers) are buffered without limit.
    case suspend(high: Int, low: Int)
    /// Keeps the latest values, up to this number, and drops older ones.
    case latest(Int)
    /// Keeps the first values, up to this number, and drops newer ones.
    case oldest(Int)
    /// Keeps all values.
    case unbounded
    // Indirect, so that the size of a policy's holder does not depend on the error's size.
    /// Keeps up to `limit` values. One more ends the stream: it is cancelled, and `error` follows the waiting
    /// values.
    indirect case fail(above: Int, with: Failure)
}

extension BufferPolicy: Equatable where Failure: Equatable {}
