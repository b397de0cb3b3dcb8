extension Observable {
    /// `values` first, then the source's own.
    @inlinable
    public func startWith(_ values: Element...) -> Observable {
        .concat([.sequence(values), self])
    }
}
