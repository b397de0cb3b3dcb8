extension Observable {
    /// The same values, with the error transformed.
    ///
    /// ```
    ///                         --1--2--#
    /// mapError { Other($0) }
    ///                         --1--2--#     the other error
    /// ```
    @inlinable
    public func mapError<E>(_ transform: @escaping @Sendable (Failure) -> E) -> Observable<Element, E> {
        lift { observer in
            Observer(
                scope: observer.scope, as: observer,
                end: { completion in
                    switch completion {
                    case .finished: observer.finish()
                    case .failed(let error): observer.fail(transform(error))
                    }
                })
        }
    }
}
