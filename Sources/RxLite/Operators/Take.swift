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
    /// In an asynchronous function, `await` makes the call the one of `AsyncSequence`, which returns the value.
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
        scope.close()
        observer.finish(with: value)
    }
}
