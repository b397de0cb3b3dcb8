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
            let latest = Confined<Element?>(nil, in: observer.scope.lane)
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
            let latest = Confined<Key?>(nil, in: observer.scope.lane)
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
