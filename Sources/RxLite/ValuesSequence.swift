/// What happens to values that come faster than they are taken.
public enum BufferPolicy: Sendable, Equatable {
    /// When `high` values wait the stream is paused, and goes on when they are down to `low`. Sources that
    /// cannot pause (signals, timers) are buffered without limit.
    case suspend(high: Int, low: Int)
    /// The latest so many are kept, older ones dropped.
    case latest(Int)
    /// The first so many are kept, newer ones dropped.
    case oldest(Int)
    /// All are kept.
    case unbounded
}

extension Observable {
    /// The stream for a `for try await` loop. Each loop subscribes anew; leaving the loop, or cancelling
    /// its task, cancels the stream.
    ///
    /// ```swift
    /// for try await line in lines.values(buffering: .suspend(high: 64, low: 16)) { … }
    /// ```
    ///
    /// - Parameter policy: what happens to values that the loop is not quick enough for.
    @inlinable
    public func values(buffering policy: BufferPolicy) -> Values<Element, Failure> {
        Values(stream: self, policy: policy)
    }
}

/// A stream as an asynchronous sequence, with the stream's own error type.
public struct Values<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let policy: BufferPolicy

    @inlinable
    init(stream: Observable<Element, Failure>, policy: BufferPolicy) {
        self.stream = stream
        self.policy = policy
    }

    /// Subscribes.
    @inlinable
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: ValuesBuffer(stream, policy))
    }

    /// Takes the values of one subscription.
    public final class Iterator: AsyncIteratorProtocol {
        @usableFromInline let buffer: ValuesBuffer<Element, Failure>

        @inlinable
        init(buffer: ValuesBuffer<Element, Failure>) { self.buffer = buffer }

        @inlinable
        deinit { buffer.cancel() }

        /// The next value; `nil` after the end, or when the task has been cancelled.
        @inlinable
        public func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(Failure) -> Element? {
            // A value that is there is taken without a change of threads, and without the cost of waiting.
            if !Task.isCancelled, let event = buffer.take() { return try event.get() }
            return try await buffer.next(isolation: isolation).get()
        }
    }
}
