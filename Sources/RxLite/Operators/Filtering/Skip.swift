extension Observable {
    /// The values after the first `count`.
    ///
    /// ```
    ///         --1--2--3--4--|
    /// skip(2)
    ///         --------3--4--|
    /// ```
    @inlinable
    public func skip(_ count: Int) -> Observable {
        guard count > 0 else { return self }
        return lift { observer in
            let remaining = LaneState(count, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    guard remaining.value > 0 else { return observer.next(value) }
                    remaining.value -= 1
                },
                end: observer.end)
        }
    }

    /// The values from the first one that does not satisfy `predicate`. A thrown error ends the stream.
    ///
    /// ```
    ///                       --1--2--3--1--|
    /// skip(while: { $0 < 3 })
    ///                       --------3--1--|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func skip(while predicate: @escaping @Sendable (Element) throws(Failure) -> Bool) -> Observable {
        lift { observer in
            let isSkipping = LaneState(true, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    do throws(Failure) {
                        if isSkipping.value, try predicate(value) { return }
                    } catch {
                        return observer.fail(error)
                    }
                    isSkipping.value = false
                    observer.next(value)
                },
                end: observer.end)
        }
    }

    /// The values from the first value on that does not satisfy a closure that throws nothing.
    @inlinable
    public func skip(while predicate: @escaping @Sendable (Element) -> Bool) -> Observable {
        skip(while: predicate as @Sendable (Element) throws(Failure) -> Bool)
    }

    /// The values after the first value of `notifier`. If the notifier finishes without a value, no value
    /// follows, but the source's end does. An error of the notifier ends the stream, unless it has sent a
    /// value before.
    ///
    /// ```
    ///             --1--2--3--4--|
    /// skip(until: ------x)
    ///             --------3--4--|
    /// ```
    @inlinable
    public func skip<Notice>(until notifier: Observable<Notice, Failure>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let isSkipping = LaneState(true, in: observer.scope.lane)
            let scope = observer.scope.child()
            notifier.notify(observer, in: scope) { _, notifierScope in
                notifierScope.close()
                isSkipping.value = false
            }
            guard scope.isOpen else { return }
            // A child, like the scope in which ``notify(_:in:_:)`` runs the notifier: after a pause the streams resume
            // in the order in which they were started.
            source(
                Observer(
                    scope: scope.child(), next: { value in if !isSkipping.value { observer.next(value) } },
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    /// The values after the first value of a signal, or of another stream that cannot fail.
    @inlinable
    @_disfavoredOverload
    public func skip<Notifier: ObservableConvertible>(until notifier: Notifier) -> Observable
    where Notifier.Failure == Never {
        skip(until: notifier.observable.setFailureType())
    }
}
