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
    /// Awaited, `collect()` returns the array itself. If neither `await` nor a following operator distinguishes them,
    /// in an async function, a type does: `let list: Observable<[Int], Never> = numbers.collect()`.
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

    /// Waits for all values, until the stream has ended well. When the task is cancelled the stream is too, and
    /// those that came until then are returned.
    ///
    /// ```swift
    /// let squares = await Observable.sequence(1...3).map { $0 * $0 }.collect()   // [1, 4, 9]
    /// ```
    public func collect() async throws(Failure) -> [Element] {
        var collected: [Element] = []
        for try await value in values(buffering: .suspend(high: 256, low: 64)) { collected.append(value) }
        return collected
    }
}
