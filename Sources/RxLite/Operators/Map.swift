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

    /// Each value, transformed by a closure that throws errors of any type. The stream fails with any type from here on;
    /// a closure that says `throws(E)`, with the stream's own error type, keeps that.
    @inlinable
    @_disfavoredOverload
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> T
    ) -> Observable<T, any Error> {
        mapError { $0 }.map(transform)
    }
}
