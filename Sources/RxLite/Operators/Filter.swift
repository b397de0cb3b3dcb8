extension Observable {
    /// The values that satisfy `isIncluded`. A thrown error ends the stream.
    ///
    /// ```
    ///                     --1--2--3--4--|
    /// filter { $0 % 2 == 0 }
    ///                     -----2-----4--|
    /// ```
    @inlinable
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
}
