extension Observable {
    /// Each value together with the latest of `other`. Values that arrive before `other` has sent one are
    /// dropped. An end of `other` changes nothing; its error ends the stream.
    ///
    /// ```
    ///                       --1-----2--3--|
    /// withLatestFrom(other: ----a-b---------)
    ///                       --------2b-3b-|
    /// ```
    @inlinable
    public func withLatestFrom<Other, T: Sendable>(
        _ other: Observable<Other, Failure>,
        _ combine: @escaping @Sendable (Element, Other) throws(Failure) -> T
    ) -> Observable<T, Failure> {
        Observable<T, Failure>(scheduler: scheduler) { [source] observer in
            let latest = LaneState<Other?>(nil, in: observer.scope.lane)
            let scope = observer.scope.child()
            other.notify(observer, in: scope) { value, _ in latest.value = value }
            guard scope.isOpen else { return }
            // A child, like the scope in which ``notify(_:in:_:)`` runs `other`: after a pause the streams resume in
            // the order in which they were started.
            let sourceScope = scope.child()
            source(
                Observer(
                    scope: sourceScope,
                    next: { value in
                        guard let other = latest.value else { return }
                        observer.next { () throws(Failure) in try combine(value, other) }
                    },
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    /// Each value together with the latest of a stream that cannot fail.
    @inlinable
    @_disfavoredOverload
    public func withLatestFrom<Other: ObservableConvertible, T: Sendable>(
        _ other: Other,
        _ combine: @escaping @Sendable (Element, Other.Element) throws(Failure) -> T
    ) -> Observable<T, Failure> where Other.Failure == Never {
        withLatestFrom(other.observable.setFailureType(), combine)
    }

    /// For each value, the latest of `other`.
    @inlinable
    public func withLatestFrom<Other>(_ other: Observable<Other, Failure>) -> Observable<Other, Failure> {
        withLatestFrom(other) { $1 }
    }

    /// For each value, the latest of a stream that cannot fail.
    @inlinable
    @_disfavoredOverload
    public func withLatestFrom<Other: ObservableConvertible>(
        _ other: Other
    ) -> Observable<Other.Element, Failure> where Other.Failure == Never {
        withLatestFrom(other.observable.setFailureType())
    }
}
