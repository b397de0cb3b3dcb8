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

/// Mutable state of one operator in one subscription.
@usableFromInline
final class LaneState<Value>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: an operator accesses its state only from inside its
    // subscription's lane, which is serial. Debug builds check that.
    #if DEBUG
    @safe @exclusivity(unchecked) @usableFromInline var contents: Value
    @usableFromInline let lane: Lane

    @inlinable var value: Value {
        _read {
            lane.assertInside()
            yield contents
        }
        _modify {
            lane.assertInside()
            yield &contents
        }
    }
    #else
    @safe @exclusivity(unchecked) @usableFromInline var value: Value
    #endif

    @inlinable
    init(_ value: Value, in lane: Lane) {
        #if DEBUG
        contents = value
        self.lane = lane
        #else
        self.value = value
        #endif
    }
}

extension Observable {
    /// Runs this stream beside the source of an operator. `receive` gets its values and the scope it runs in.
    /// Its error closes `scope` and ends the operator's stream; its end changes nothing.
    @inlinable
    func notify<T>(
        _ observer: Observer<T, Failure>, in scope: Scope,
        _ receive: @escaping @Sendable (Element, Scope) -> Void
    ) {
        let ownScope = scope.child()
        subscribe(
            Observer(
                scope: ownScope, next: { receive($0, ownScope) },
                end: { completion in
                    guard case .failed = completion else { return ownScope.close() }
                    scope.close()
                    observer.end(completion)
                }))
    }
}
