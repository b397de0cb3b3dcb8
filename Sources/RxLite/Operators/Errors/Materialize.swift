/// One event of a stream, as a value.
@frozen
public enum StreamEvent<Element: Sendable, Failure: Error>: Sendable {
    /// A value.
    case next(Element)
    /// The end.
    case end(Completion<Failure>)
}

extension StreamEvent: Equatable where Element: Equatable, Failure: Equatable {}

extension Observable {
    /// Each event as a value, the end as the last of them; then the stream finishes.
    ///
    /// ```
    ///               --1-------2--------#
    /// materialize()
    ///               --next(1)-next(2)--(end(#)|)
    /// ```
    @inlinable
    public func materialize() -> Observable<StreamEvent<Element, Failure>, Never> {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope, next: { observer.next(.next($0)) },
                end: { completion in
                    scope.close()
                    observer.finish(with: .end(completion))
                })
        }
    }

    /// The events contained in a stream of events, as made by ``materialize()``. The stream ends with the
    /// first end among the values, or with the end of the source.
    @inlinable
    public func dematerialize<T>() -> Observable<T, Failure> where Element == StreamEvent<T, Failure> {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope,
                next: { event in
                    switch event {
                    case .next(let value): observer.next(value)
                    case .end(let completion):
                        scope.close()
                        observer.end(completion)
                    }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }
}

extension Observable where Failure == Never {
    /// The events contained in a stream of events that itself cannot fail.
    @inlinable
    @_disfavoredOverload
    public func dematerialize<T, E>() -> Observable<T, E> where Element == StreamEvent<T, E> {
        setFailureType(to: E.self).dematerialize()
    }
}

extension Observable {
    /// Each value as a success, and an error as a failure, after which the stream finishes. It never fails.
    ///
    /// ```
    ///            --1----------2--------#
    /// asResult()
    ///            --success(1)-success(2)-(failure(#)|)
    /// ```
    @inlinable
    public func asResult() -> Observable<Result<Element, Failure>, Never> {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope, next: { observer.next(.success($0)) },
                end: { completion in
                    scope.close()
                    switch completion {
                    case .finished: observer.finish()
                    case .failed(let error): observer.finish(with: .failure(error))
                    }
                })
        }
    }
}
