extension Observable {
    /// The values that satisfy `isIncluded`. A thrown error ends the stream.
    ///
    /// ```
    ///                     --1--2--3--4--|
    /// filter { $0 % 2 == 0 }
    ///                     -----2-----4--|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func filter(
        _ isIncluded: @escaping @Sendable (Element) throws(Failure) -> Bool
    ) -> Observable {
        linked { value, link in
            let observer = unsafe unsafeDowncast(link, to: Downstream<Element, Failure>.self).observer
            do throws(Failure) {
                if try isIncluded(value) { observer.next(value) }
            } catch {
                observer.fail(error)
            }
        }
    }

    /// The values that satisfy a closure that throws nothing.
    @inlinable
    public func filter(_ isIncluded: @escaping @Sendable (Element) -> Bool) -> Observable {
        filter(isIncluded as @Sendable (Element) throws(Failure) -> Bool)
    }

    /// The values that satisfy a closure that throws errors of any type.
    @inlinable
    @_disfavoredOverload
    public func filter(
        _ isIncluded: @escaping @Sendable (Element) throws -> Bool
    ) -> Observable<Element, any Error> {
        mapError { $0 }.filter(isIncluded)
    }
}

extension Observable {
    /// The values that differ from the previous one according to `areEquivalent(before, value)`. A thrown
    /// error ends the stream.
    ///
    /// ```
    ///                        --1--1--2--2--1--|
    /// distinctUntilChanged()
    ///                        --1-----2-----1--|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func distinctUntilChanged(
        by areEquivalent: @escaping @Sendable (Element, Element) throws(Failure) -> Bool
    ) -> Observable {
        lift { observer in
            let latest = LaneState<Element?>(nil, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    do throws(Failure) {
                        if let before = latest.value, try areEquivalent(before, value) { return }
                    } catch {
                        return observer.fail(error)
                    }
                    latest.value = value
                    observer.next(value)
                },
                end: observer.end)
        }
    }

    /// The values whose key differs from the previous value's key. A thrown error ends the stream.
    ///
    /// ```swift
    /// positions.distinctUntilChanged(by: \.city)
    /// ```
    @inlinable
    @_disfavoredOverload
    public func distinctUntilChanged<Key: Equatable & Sendable>(
        by key: @escaping @Sendable (Element) throws(Failure) -> Key
    ) -> Observable {
        lift { observer in
            let latest = LaneState<Key?>(nil, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    let keyOfValue: Key
                    do throws(Failure) { keyOfValue = try key(value) } catch { return observer.fail(error) }
                    if let before = latest.value, before == keyOfValue { return }
                    latest.value = keyOfValue
                    observer.next(value)
                },
                end: observer.end)
        }
    }

    /// The values that differ from the previous one, by a closure that throws nothing.
    @inlinable
    public func distinctUntilChanged(
        by areEquivalent: @escaping @Sendable (Element, Element) -> Bool
    ) -> Observable {
        distinctUntilChanged(by: areEquivalent as @Sendable (Element, Element) throws(Failure) -> Bool)
    }

    /// The values whose key, from a closure that throws nothing, differs from that of the one sent before.
    @inlinable
    public func distinctUntilChanged<Key: Equatable & Sendable>(
        by key: @escaping @Sendable (Element) -> Key
    ) -> Observable {
        distinctUntilChanged(by: key as @Sendable (Element) throws(Failure) -> Key)
    }
}

extension Observable where Element: Equatable {
    /// The values that differ from the previous one.
    @inlinable
    public func distinctUntilChanged() -> Observable {
        distinctUntilChanged(by: { $0 == $1 })
    }
}

extension Observable {
    /// Only the end, without values.
    ///
    /// ```
    ///                  --1--2--|
    /// ignoreElements()
    ///                  --------|
    /// ```
    ///
    /// ```swift
    /// upload.ignoreElements(as: Receipt.self).merge(with: receipts)
    /// ```
    ///
    /// - Parameter type: the element type of the resulting stream. Default `Never`.
    @inlinable
    public func ignoreElements<T: Sendable>(as type: T.Type = Never.self) -> Observable<T, Failure> {
        lift { observer in Observer(scope: observer.scope, next: { _ in }, end: observer.end) }
    }
}

extension Observable {
    /// Continues with `other` if the source finishes without a value.
    ///
    /// ```
    ///                         -----|
    /// ifEmpty(switchTo: --1-|)
    ///                         -------1-|
    /// ```
    @inlinable
    public func ifEmpty(switchTo other: Observable) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            let isEmpty = LaneState(true, in: observer.scope.lane)
            return Observer(
                scope: scope,
                next: { value in
                    isEmpty.value = false
                    observer.next(value)
                },
                end: { completion in
                    scope.close()
                    guard case .finished = completion, isEmpty.value else { return observer.end(completion) }
                    other.subscribeNested(observer)
                })
        }
    }

    /// Sends `value` if the source finishes without one.
    ///
    /// ```
    ///                     -----|
    /// ifEmpty(default: 0)
    ///                     -----(0|)
    /// ```
    @inlinable
    public func ifEmpty(default value: Element) -> Observable { ifEmpty(switchTo: .just(value)) }

    /// Fails with `error` if the source finishes without a value.
    @inlinable
    public func ifEmpty(fail error: Failure) -> Observable { ifEmpty(switchTo: .fail(error)) }
}
