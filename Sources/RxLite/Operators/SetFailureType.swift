extension Observable where Failure == Never {
    /// The same stream as one that can fail.
    ///
    /// ```
    ///                  --1--2--|     Failure == Never
    /// setFailureType()
    ///                  --1--2--|     any Failure
    /// ```
    @inlinable
    public func setFailureType<E>(to _: E.Type = E.self) -> Observable<Element, E> {
        lift { observer in
            Observer(scope: observer.scope, as: observer, end: { _ in observer.finish() })
        }
    }
}
