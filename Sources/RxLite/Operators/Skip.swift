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
            let remaining = Confined(count, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    guard remaining.value > 0 else { return observer.next(value) }
                    remaining.value -= 1
                },
                end: observer.end)
        }
    }

    /// The values from the first that does not satisfy `predicate` on. A thrown error ends the stream.
    ///
    /// ```
    ///                       --1--2--3--1--|
    /// skip(while: { $0 < 3 })
    ///                       --------3--1--|
    /// ```
    @inlinable
    public func skip(while predicate: @escaping @Sendable (Element) throws(Failure) -> Bool) -> Observable {
        lift { observer in
            let isSkipping = Confined(true, in: observer.scope.lane)
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

    /// The values from the time on when `notifier` sends its first. If it finishes without one, no value
    /// comes; the source's end does all the same. Its error ends the stream, unless it has sent before.
    ///
    /// ```
    ///             --1--2--3--4--|
    /// skip(until: ------x)
    ///             --------3--4--|
    /// ```
    @inlinable
    public func skip<Notice>(until notifier: Observable<Notice, Failure>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let isSkipping = Confined(true, in: observer.scope.lane)
            let scope = observer.scope.child()
            notifier.notify(observer, in: scope) { _, notifierScope in
                notifierScope.close()
                isSkipping.value = false
            }
            guard scope.isOpen else { return }
            // A child too: after a pause the streams go on in the order in which they were started.
            source(
                Observer(
                    scope: scope.child(), next: { value in if !isSkipping.value { observer.next(value) } },
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    /// The values from the time on when a signal, or another stream that cannot fail, sends its first.
    @inlinable
    @_disfavoredOverload
    public func skip<Notice>(until notifier: Observable<Notice, Never>) -> Observable {
        skip(until: notifier.setFailureType())
    }
}
