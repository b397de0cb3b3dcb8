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

extension Observable {
    /// Sends `value` on an error, and finishes.
    ///
    /// ```
    ///                       --1--2--#
    /// replaceError(with: 9)
    ///                       --1--2--(9|)
    /// ```
    @inlinable
    public func replaceError(with value: Element) -> Observable<Element, Never> {
        self.catch { _ in Observable<Element, Never>.just(value) }
    }
}

extension Observable {
    /// Transforms the error of the stream; its values stay unchanged.
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

extension Observable where Failure == Never {
    /// Gives a stream that cannot fail an error type, so that it combines with streams that can.
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
