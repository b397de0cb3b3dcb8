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
