extension Observable {
    /// Each value, transformed, except those for which the result is `nil`. A thrown error ends the stream.
    ///
    /// ```
    ///                      --1--x--3--|
    /// compactMap { Int($0) }
    ///                      --1-----3--|
    /// ```
    @inlinable
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
}
