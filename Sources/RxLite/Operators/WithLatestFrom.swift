extension Observable {
    /// Each value together with the latest of `other`. Values that come before `other` has sent anything
    /// are dropped; an end of `other` changes nothing.
    @inlinable
    public func withLatestFrom<Other, T: Sendable>(
        _ other: Observable<Other, Never>,
        _ combine: @escaping @Sendable (Element, Other) throws(Failure) -> T
    ) -> Observable<T, Failure> {
        Observable<T, Failure>(scheduler: scheduler) { [source] observer in
            let latest = Confined<Other?>(nil)
            let otherScope = observer.scope.child()
            other.subscribe(
                Observer(
                    scope: otherScope, next: { latest.value = $0 }, end: { _ in otherScope.close() }))
            source(
                Observer(
                    scope: observer.scope,
                    next: { value in
                        guard let other = latest.value else { return }
                        observer.next { () throws(Failure) in try combine(value, other) }
                    },
                    end: observer.end))
        }
    }

    /// For each value, the latest of `other`.
    @inlinable
    public func withLatestFrom<Other>(_ other: Observable<Other, Never>) -> Observable<Other, Failure> {
        withLatestFrom(other) { $1 }
    }
}
