extension Observable {
    /// The first value, then the end; the source is stopped with it. Nothing if the source finishes without
    /// one.
    ///
    /// ```
    ///         --1--2--3--|
    /// first()
    ///         --(1|)
    /// ```
    ///
    /// Awaited, `first()` returns the value itself. If neither `await` nor a following operator distinguishes them, in
    /// an async function, a type does: `let first: Observable<Int, Never> = numbers.first()`.
    @inlinable
    public func first() -> Observable { take(1) }

    /// Waits for the first value; the stream is cancelled with it. `nil` if the stream ends without one, or when
    /// the task is cancelled.
    ///
    /// ```swift
    /// let cart = try await client.get("/cart").decode(Cart.self).first()
    /// ```
    public func first() async throws(Failure) -> Element? {
        try await take(1).values(buffering: .oldest(1)).makeAsyncIterator().next()
    }
}
