extension Observable {
    /// Each value together with the previous one; nothing for the first.
    ///
    /// ```
    ///            --1--2------3--|
    /// pairwise()
    ///            -----(1,2)--(2,3)--|
    /// ```
    @inlinable
    public func pairwise() -> Observable<(previous: Element, current: Element), Failure> {
        lift { observer in
            let latest = Confined<Element?>(nil, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    let previous = latest.value
                    latest.value = value
                    if let previous { observer.next((previous, value)) }
                },
                end: observer.end)
        }
    }
}
