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
            let values = Confined<[Element]>([], in: observer.scope.lane)
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
