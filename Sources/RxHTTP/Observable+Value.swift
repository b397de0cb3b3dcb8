public import RxLite

extension Observable where Failure == NetworkError {
    /// Waits for one value, the first. The stream is cancelled with it.
    ///
    /// ```swift
    /// do {
    ///     show(try await client.get("/cart").decode(Cart.self).value())
    /// } catch {
    ///     show(error.message)
    /// }
    /// ```
    ///
    /// The stream is started by the caller's actor, and the value is returned there. Cancelling the task cancels the
    /// stream; a task that has been cancelled before does not start it.
    ///
    /// - Throws: the error that the stream fails with, `cancelled` when the task is cancelled, or `noValue` if the stream
    ///   finishes without a value, which no single request does.
    nonisolated(nonsending)
        public func value() async throws(NetworkError) -> Element
    {
        if let value = try await firstValue() { return value }
        if Task.isCancelled { throw .taskCancelled }
        throw NetworkError(.noValue, "\(NoValue())")
    }
}
