extension Observable {
    /// After an error, continues with the stream that `recover` returns; the failed stream is closed first.
    ///
    /// ```
    ///                     --1--2--#
    /// catch { _ in --9--| }
    ///                     --1--2----9--|
    /// ```
    @inlinable
    public func `catch`<E>(
        _ recover: @escaping @Sendable (Failure) -> Observable<Element, E>
    ) -> Observable<Element, E> {
        // Not a `lift`, which would keep the closure in another.
        Observable<Element, E>(scheduler: scheduler) { [source] observer in
            let scope = observer.scope.child()
            source(
                Observer(
                    scope: scope, as: observer,
                    end: { completion in
                        scope.close()
                        switch completion {
                        case .finished: observer.finish()
                        case .failed(let error): recover(error).subscribeNested(observer)
                        }
                    }))
        }
    }
}
