extension Observable {
    /// Each value, transformed. A thrown error ends the stream.
    ///
    /// ```
    ///             --1--2--3--|
    /// map { $0*10 }
    ///             --10-20-30-|
    /// ```
    @inlinable
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
}
