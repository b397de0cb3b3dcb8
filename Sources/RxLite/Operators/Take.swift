extension Observable {
    /// The first `count` values, then the end. The source is stopped with the last of them; with a count of
    /// zero or less it is not started.
    ///
    /// ```
    ///        --1--2--3--4--|
    /// take(2)
    ///        --1--(2|)
    /// ```
    @inlinable
    public func take(_ count: Int) -> Observable {
        guard count > 0 else { return .empty() }
        return lift { observer in
            let scope = observer.scope.child()
            let remaining = Confined(count)
            return Observer(
                scope: scope,
                next: { value in
                    remaining.value -= 1
                    guard remaining.value == 0 else { return observer.next(value) }
                    scope.close()
                    observer.next(value)
                    if observer.scope.isOpen { observer.finish() }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }
}
