extension Observable {
    /// The last value, when the source has finished; no value if the source has none, or fails.
    ///
    /// ```
    ///        --1--2--3--|
    /// last()
    ///        -----------(3|)
    /// ```
    @inlinable
    public func last() -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            let latest = Confined<Element?>(nil, in: observer.scope.lane)
            return Observer(
                scope: scope, next: { latest.value = $0 },
                end: { completion in
                    scope.close()
                    guard case .finished = completion, let last = latest.value else {
                        return observer.end(completion)
                    }
                    observer.finish(with: last)
                })
        }
    }
}
