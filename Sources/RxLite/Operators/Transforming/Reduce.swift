extension Observable {
    /// Combines all values with `initial`, one by one, and sends the result when the source has finished.
    /// Each subscription starts again with `initial`. A thrown error ends the stream; if the source fails
    /// there is no result.
    ///
    /// ```
    ///              --1--2--3--|
    /// reduce(0, +)
    ///              -----------(6|)
    /// ```
    @inlinable
    @_disfavoredOverload
    public func reduce<Result: Sendable>(
        _ initial: Result,
        _ combine: @escaping @Sendable (Result, Element) throws(Failure) -> Result
    ) -> Observable<Result, Failure> {
        lift { observer in
            let scope = observer.scope.child()
            let result = LaneState(initial, in: observer.scope.lane)
            return Observer(
                scope: scope,
                next: { value in
                    do throws(Failure) {
                        result.value = try combine(result.value, value)
                    } catch {
                        scope.close()
                        observer.fail(error)
                    }
                },
                end: { completion in
                    scope.close()
                    guard case .finished = completion else { return observer.end(completion) }
                    observer.finish(with: result.value)
                })
        }
    }

    /// The result of a closure that throws nothing.
    @inlinable
    public func reduce<Result: Sendable>(
        _ initial: Result, _ combine: @escaping @Sendable (Result, Element) -> Result
    ) -> Observable<Result, Failure> {
        reduce(initial, combine as @Sendable (Result, Element) throws(Failure) -> Result)
    }

    /// The result of a closure that throws errors of any type.
    @inlinable
    @_disfavoredOverload
    public func reduce<Result: Sendable>(
        _ initial: Result, _ combine: @escaping @Sendable (Result, Element) throws -> Result
    ) -> Observable<Result, any Error> {
        mapError { $0 }.reduce(initial, combine)
    }
}

extension Observable {
    /// All values in one array, when the source has finished; an empty one if there were none. If the source
    /// fails the values are dropped.
    ///
    /// ```
    ///           --1--2--3--|
    /// collect()
    ///           -----------([1,2,3]|)
    /// ```
    ///
    /// ```swift
    /// let squares = try await Observable.sequence(1...3).map { $0 * $0 }.collect().value()   // [1, 4, 9]
    /// ```
    @inlinable
    public func collect() -> Observable<[Element], Failure> {
        lift { observer in
            let scope = observer.scope.child()
            let values = LaneState<[Element]>([], in: observer.scope.lane)
            return Observer(
                scope: scope, next: { values.value.append($0) },
                end: { completion in
                    scope.close()
                    guard case .finished = completion else { return observer.end(completion) }
                    observer.finish(with: values.value)
                })
        }
    }
}
