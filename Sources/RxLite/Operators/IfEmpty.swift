extension Observable {
    /// Continues with `other` if the source finishes without a value.
    ///
    /// ```
    ///                         -----|
    /// ifEmpty(switchTo: --1-|)
    ///                         -------1-|
    /// ```
    @inlinable
    public func ifEmpty(switchTo other: Observable) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            let isEmpty = Confined(true, in: observer.scope.lane)
            return Observer(
                scope: scope,
                next: { value in
                    isEmpty.value = false
                    observer.next(value)
                },
                end: { completion in
                    scope.close()
                    guard case .finished = completion, isEmpty.value else { return observer.end(completion) }
                    other.subscribeNested(observer)
                })
        }
    }

    /// Sends `value` if the source finishes without one.
    ///
    /// ```
    ///                     -----|
    /// ifEmpty(default: 0)
    ///                     -----(0|)
    /// ```
    @inlinable
    public func ifEmpty(default value: Element) -> Observable { ifEmpty(switchTo: .just(value)) }

    /// Fails with `error` if the source finishes without a value.
    @inlinable
    public func ifEmpty(fail error: Failure) -> Observable { ifEmpty(switchTo: .fail(error)) }
}
