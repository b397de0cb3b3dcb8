extension Observable {
    /// The first `count` values, then the end. The source is stopped with the last of them; with a count of
    /// zero or less it is not started.
    ///
    /// ```
    ///        --1--2--3--4--|
    /// take(2)
    ///        --1--(2|)
    /// ```
    ///
    /// To await the first value there is `value()`.
    @inlinable
    public func take(_ count: Int) -> Observable {
        guard count > 0 else { return .empty() }
        return Observable(scheduler: scheduler) { [source] observer in
            let taking = Taking(count, into: observer)
            source(
                Observer(
                    scope: taking.scope, target: taking,
                    receive: { value, target in
                        unsafe unsafeDowncast(target, to: Taking<Element, Failure>.self).receive(value)
                    },
                    end: { completion in
                        taking.scope.close()
                        taking.observer.end(completion)
                    }))
        }
    }

    /// The first value that satisfies `predicate`, then the end; no value if none does. The source is stopped with it.
    ///
    /// ```
    ///                        --1--2--3--|
    /// first(where: { $0 > 1 })
    ///                        -----(2|)
    /// ```
    ///
    /// In an asynchronous function, `await` selects the function of `AsyncSequence`, which returns the value.
    @inlinable
    @_disfavoredOverload
    public func first(where predicate: @escaping @Sendable (Element) -> Bool) -> Observable {
        filter(predicate).take(1)
    }
}

/// The state of one take.
@usableFromInline
final class Taking<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: accessed only from inside the subscription's lane, which is
    // serial.
    @safe @exclusivity(unchecked) @usableFromInline var remaining: Int
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scope: Scope

    @inlinable
    init(_ count: Int, into observer: Observer<Element, Failure>) {
        remaining = count
        self.observer = observer
        scope = observer.scope.child()
    }

    @inlinable
    func receive(_ value: Element) {
        remaining -= 1
        guard remaining == 0 else { return observer.next(value) }
        // Before the value is delivered, as Contracts.md promises.
        scope.close()
        observer.finish(with: value)
    }
}

extension Observable {
    /// The values as long as they satisfy `predicate`. The first that does not stops the source and ends the
    /// stream; so does a thrown error.
    ///
    /// ```
    ///                       --1--2--3--1--|
    /// take(while: { $0 < 3 })
    ///                       --1--2--|
    /// ```
    ///
    /// - Parameter inclusive: whether the value that does not satisfy `predicate` is also sent. Default
    ///   `false`.
    @inlinable
    @_disfavoredOverload
    public func take(
        while predicate: @escaping @Sendable (Element) throws(Failure) -> Bool, inclusive: Bool = false
    ) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope,
                next: { value in
                    do throws(Failure) {
                        if try predicate(value) { return observer.next(value) }
                    } catch {
                        scope.close()
                        return observer.fail(error)
                    }
                    scope.close()
                    if inclusive { observer.finish(with: value) } else { observer.finish() }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }

    /// The values as long as they satisfy a closure that throws nothing.
    @inlinable
    public func take(
        while predicate: @escaping @Sendable (Element) -> Bool, inclusive: Bool = false
    ) -> Observable {
        take(while: predicate as @Sendable (Element) throws(Failure) -> Bool, inclusive: inclusive)
    }
}

extension Observable {
    /// The values until `notifier` sends its first value; then the end. A notifier that finishes without a
    /// value changes nothing; its error ends the stream. A notifier that sends on subscription prevents the
    /// start of the source.
    ///
    /// ```
    ///            --1--2--3--4--|
    /// take(until: --------x)
    ///            --1--2--|
    /// ```
    @inlinable
    public func take<Notice>(until notifier: Observable<Notice, Failure>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let scope = observer.scope.child()
            notifier.notify(observer, in: scope) { _, _ in
                scope.close()
                observer.finish()
            }
            guard scope.isOpen else { return }
            // A child, like the scope in which ``notify(_:in:_:)`` runs the notifier: after a pause the streams resume
            // in the order in which they were started.
            source(
                Observer(
                    scope: scope.child(), as: observer,
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    /// The values until a signal, or another stream that cannot fail, sends its first value; then the end.
    @inlinable
    @_disfavoredOverload
    public func take<Notifier: ObservableConvertible>(until notifier: Notifier) -> Observable
    where Notifier.Failure == Never {
        take(until: notifier.observable.setFailureType())
    }
}

extension Observable {
    /// The values that arrive within `limit` of the subscription; then the source is stopped and the stream
    /// ends.
    ///
    /// ```
    ///                        --1--2--3--4--|
    /// take(for: .seconds(9))
    ///                        --1--2--3|
    /// ```
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func take(for limit: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return take(until: Observable<Void, Never>.timer(limit, on: clock))
    }
}

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
            let latest = LaneState<Element?>(nil, in: observer.scope.lane)
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
            let latest = LaneState(FIFO<Element>(), in: observer.scope.lane)
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
