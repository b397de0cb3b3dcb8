extension Observable {
    /// The first value; the stream is cancelled with it. `nil` if the stream ends without one, or when the
    /// task is cancelled.
    public func first() async throws(Failure) -> Element? {
        try await take(1).values(buffering: .oldest(1)).makeAsyncIterator().next()
    }
}
