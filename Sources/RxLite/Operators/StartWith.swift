extension Observable {
    /// `values` first, then the source's own.
    ///
    /// ```
    ///              --1--2--|
    /// startWith(0)
    ///              0-1--2--|
    /// ```
    @inlinable
    public func startWith(_ values: Element...) -> Observable {
        .concat([.sequence(values), self])
    }
}
