extension Observable {
    /// The running result of combining each value with what came before; starts over with `initial` for
    /// each subscription. A thrown error ends the stream.
    ///
    /// ```
    ///           --1--2--3--|
    /// scan(0, +)
    ///           --1--3--6--|
    /// ```
    @inlinable
    public func scan<Result: Sendable>(
        _ initial: Result,
        _ combine: @escaping @Sendable (Result, Element) throws(Failure) -> Result
    ) -> Observable<Result, Failure> {
        lift { observer in
            let result = Confined(initial)
            return Observer(
                scope: observer.scope,
                next: { value in
                    observer.next { () throws(Failure) in
                        let combined = try combine(result.value, value)
                        result.value = combined
                        return combined
                    }
                },
                end: observer.end)
        }
    }
}
