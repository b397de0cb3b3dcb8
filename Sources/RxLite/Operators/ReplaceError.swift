extension Observable {
    /// Sends `value` on an error, and finishes.
    ///
    /// ```
    ///                       --1--2--#
    /// replaceError(with: 9)
    ///                       --1--2--(9|)
    /// ```
    @inlinable
    public func replaceError(with value: Element) -> Observable<Element, Never> {
        self.catch { _ in Observable<Element, Never>.just(value) }
    }
}
