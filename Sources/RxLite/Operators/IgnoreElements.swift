extension Observable {
    /// Only the end, without values.
    ///
    /// ```
    ///                  --1--2--|
    /// ignoreElements()
    ///                  --------|
    /// ```
    ///
    /// ```swift
    /// upload.ignoreElements(as: Receipt.self).merge(with: receipts)
    /// ```
    ///
    /// - Parameter type: the element type of the resulting stream. Default `Never`.
    @inlinable
    public func ignoreElements<T: Sendable>(as type: T.Type = Never.self) -> Observable<T, Failure> {
        lift { observer in Observer(scope: observer.scope, next: { _ in }, end: observer.end) }
    }
}
