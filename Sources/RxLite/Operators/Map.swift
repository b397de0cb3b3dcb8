extension Observable {
    /// Each value, transformed. A thrown error ends the stream.
    ///
    /// ```
    ///             --1--2--3--|
    /// map { $0*10 }
    ///             --10-20-30-|
    /// ```
    @inlinable
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> T
    ) -> Observable<T, Failure> {
        lift { observer in
            Observer(
                scope: observer.scope,
                next: { value in observer.next { () throws(Failure) in try transform(value) } },
                end: observer.end)
        }
    }
}
