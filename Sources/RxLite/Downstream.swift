/// What a linear operator keeps for one subscription: whom it hands on to.
@usableFromInline
final class Downstream<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline let observer: Observer<Element, Failure>

    @inlinable
    init(_ observer: Observer<Element, Failure>) { self.observer = observer }
}

extension Observable {
    /// A stream that takes each value as `receive` does: the shape of operators that keep no state.
    ///
    /// `receive` gets the ``Downstream`` to its observer in place of capturing it, so that it captures nothing but
    /// the user's closure; see ``Observer``.
    @inlinable
    func linked<T>(
        _ receive: @escaping @Sendable (Element, any AnyObject & Sendable) -> Void
    ) -> Observable<T, Failure> {
        Observable<T, Failure>(scheduler: scheduler) { [source] observer in
            source(
                Observer(
                    scope: observer.scope, target: Downstream(observer), receive: receive, end: observer.end))
        }
    }
}
