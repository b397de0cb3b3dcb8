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
