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

    /// After an error, continues with a stream that fails with the same type, for a closure that returns `.just` in one
    /// branch and `.fail` in another.
    @inlinable
    @_disfavoredOverload
    public func `catch`(_ recover: @escaping @Sendable (Failure) -> Observable) -> Observable {
        // The generic form, which the compiler prefers.
        self.catch { error -> Observable<Element, Failure> in recover(error) }
    }
}
