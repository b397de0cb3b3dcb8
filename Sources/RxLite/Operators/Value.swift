extension Observable {
    /// Waits for one value, the first. The stream is cancelled with it.
    ///
    /// ```swift
    /// let cart = try await client.get("/cart").decode(Cart.self).value()
    /// ```
    ///
    /// The stream is started by the caller's actor, and the value is returned there. Cancelling the task cancels the
    /// stream; a task that has been cancelled before does not start it.
    ///
    /// Streams whose `Failure` is `NetworkError` have a `value()` that throws nothing else.
    ///
    /// - Throws: the error that the stream fails with, `CancellationError` when the task is cancelled, or ``NoValue`` if
    ///   the stream finishes without a value.
    nonisolated(nonsending)
        public func value() async throws -> Element
    {
        if let value = try await firstValue() { return value }
        try Task.checkCancellation()
        throw NoValue()
    }

    /// The first value; `nil` if the stream finishes without one, or when the task is cancelled.
    nonisolated(nonsending)
        package func firstValue() async throws(Failure) -> Element?
    {
        if Task.isCancelled { return nil }
        return try await take(1).values(buffering: .unbounded).makeAsyncIterator().next()
    }
}
