extension Observable {
    /// Each value, transformed. A thrown error ends the stream.
    ///
    /// ```
    ///             --1--2--3--|
    /// map { $0*10 }
    ///             --10-20-30-|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> T
    ) -> Observable<T, Failure> {
        linked { value, link in
            let observer = unsafe unsafeDowncast(link, to: Downstream<T, Failure>.self).observer
            do throws(Failure) {
                observer.next(try transform(value))
            } catch {
                observer.fail(error)
            }
        }
    }

    /// Each value, transformed by a closure that throws nothing.
    @inlinable
    public func map<T: Sendable>(_ transform: @escaping @Sendable (Element) -> T) -> Observable<T, Failure> {
        map(transform as @Sendable (Element) throws(Failure) -> T)
    }

    /// Each value, transformed by a closure that throws errors of any type. The stream fails with any type from here
    /// on; a closure that says `throws(E)`, with the stream's own error type, keeps that.
    @inlinable
    @_disfavoredOverload
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> T
    ) -> Observable<T, any Error> {
        mapError { $0 }.map(transform)
    }
}

extension Observable {
    /// Each value, transformed, except those for which the result is `nil`. A thrown error ends the stream.
    ///
    /// ```
    ///                      --1--x--3--|
    /// compactMap { Int($0) }
    ///                      --1-----3--|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func compactMap<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> T?
    ) -> Observable<T, Failure> {
        linked { value, link in
            let observer = unsafe unsafeDowncast(link, to: Downstream<T, Failure>.self).observer
            do throws(Failure) {
                if let value = try transform(value) { observer.next(value) }
            } catch {
                observer.fail(error)
            }
        }
    }

    /// Each value, transformed by a closure that throws nothing, without those that become `nil`.
    @inlinable
    public func compactMap<T: Sendable>(
        _ transform: @escaping @Sendable (Element) -> T?
    ) -> Observable<T, Failure> {
        compactMap(transform as @Sendable (Element) throws(Failure) -> T?)
    }

    /// Each value, transformed by a closure that throws errors of any type, without those that become `nil`.
    @inlinable
    @_disfavoredOverload
    public func compactMap<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> T?
    ) -> Observable<T, any Error> {
        mapError { $0 }.compactMap(transform)
    }
}

extension Observable {
    /// Each value together with the previous one; nothing for the first.
    ///
    /// ```
    ///            --1--2------3--|
    /// pairwise()
    ///            -----(1,2)--(2,3)--|
    /// ```
    @inlinable
    public func pairwise() -> Observable<(previous: Element, current: Element), Failure> {
        lift { observer in
            let latest = LaneState<Element?>(nil, in: observer.scope.lane)
            return Observer(
                scope: observer.scope,
                next: { value in
                    let previous = latest.value
                    latest.value = value
                    if let previous { observer.next((previous, value)) }
                },
                end: observer.end)
        }
    }
}
