extension Observable: AsyncSequence {
    /// Starts the stream for a `for try await` loop.
    ///
    /// ```swift
    /// for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { show(goods) }
    /// ```
    ///
    /// Each loop is a new subscription. When 64 values wait for the loop the stream is paused, until 16 are left; sources
    /// that cannot pause (signals, properties, timers) are buffered without limit. ``values(buffering:)`` has other
    /// policies. Leaving the loop, or cancelling its task, cancels the stream.
    ///
    /// A loop whose task is cancelled throws: `NetworkError` with the code `cancelled`, `CancellationError` where the
    /// stream fails with `any Error`, or the error type's ``CancellationReporting/taskCancelled``. A stream that cannot
    /// fail has nothing to throw: its loop ends as after the last value, and `Task.isCancelled` tells the two apart.
    @inlinable
    public func makeAsyncIterator() -> Values<Element, Failure>.Iterator {
        values(buffering: .suspend(high: 64, low: 16)).makeAsyncIterator()
    }
}
