extension Observable {
    /// The stream for a `for try await` loop that does not pause it. A loop over the stream itself does, see
    /// ``makeAsyncIterator()``; in all else the two are alike.
    ///
    /// ```swift
    /// for await count in counts.values(buffering: .latest(1)) { print(count) }
    /// ```
    ///
    /// A loop that must neither miss a value nor fall far behind has the stream fail when it does:
    ///
    /// ```swift
    /// ticks.setFailureType().values(buffering: .fail(above: 256, with: TooSlow()))
    /// ```
    ///
    /// - Parameter policy: what happens to values that the loop is not quick enough for.
    @inlinable
    public func values(buffering policy: BufferPolicy<Failure>) -> Values<Element, Failure> {
        Values(stream: self, policy: policy)
    }
}

/// A stream as an asynchronous sequence, with the stream's own error type.
public struct Values<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>

    @inlinable
    init(stream: Observable<Element, Failure>, policy: BufferPolicy<Failure>) {
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

        /// How many values the buffer had no room for so far: those that ``BufferPolicy/latest(_:)`` or
        /// ``BufferPolicy/oldest(_:)`` dropped, or the one that ended the stream.
        @inlinable public var droppedCount: Int { buffer.droppedCount }

        /// The next value; `nil` after the end.
        ///
        /// - Throws: the error that the stream fails with; when the task has been cancelled, the error type's own for
        ///   that (``CancellationReporting/taskCancelled``: `NetworkError` with the code `cancelled`), or
        ///   `CancellationError` where `Failure` is `any Error`. Where `Failure` is `Never`, or an error type without
        ///   one, it is `nil` that a cancelled task gets.
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
