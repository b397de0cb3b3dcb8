/// The object that a stateless operator keeps for one subscription: the observer of its output.
@usableFromInline
final class Downstream<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline let observer: Observer<Element, Failure>

    @inlinable
    init(_ observer: Observer<Element, Failure>) { self.observer = observer }
}

extension Observable {
    /// A stream that passes each value to `receive`: the form of operators without state.
    ///
    /// `receive` gets the ``Downstream`` to its observer instead of capturing it, so that it captures only
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
