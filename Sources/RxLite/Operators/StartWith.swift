extension Observable {
    /// `values` first, then those of the source.
    ///
    /// ```
    ///                 ------3--4--|
    /// startWith(1, 2)
    ///                 (12)--3--4--|
    /// ```
    @inlinable
    public func startWith(_ values: Element...) -> Observable {
        .concat([.sequence(values), self])
    }
}
