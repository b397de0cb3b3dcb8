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

    /// The last `count` values, when the source has finished. None if the source fails; with a count of zero or less it
    /// is not started.
    ///
    /// ```
    ///             --1--2--3--|
    /// takeLast(2)
    ///             -----------(23|)
    /// ```
    ///
    /// The values wait while the subscriber is paused.
    @inlinable
    public func takeLast(_ count: Int) -> Observable {
        guard count > 0 else { return .empty() }
        return lift { observer in
            let scope = observer.scope.child()
            let latest = Confined(FIFO<Element>(), in: observer.scope.lane)
            return Observer(
                scope: scope,
                next: { value in
                    if latest.value.count == count { _ = latest.value.popFirst() }
                    latest.value.append(value)
                },
                end: { completion in
                    scope.close()
                    let values = latest.value
                    latest.value.removeAll()
                    guard case .finished = completion else { return observer.end(completion) }
                    Observable(pulling: values.elements).subscribe(observer)
                })
        }
    }
}
