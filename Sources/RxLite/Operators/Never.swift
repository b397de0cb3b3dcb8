extension Observable {
    /// No value and no end; runs until it is cancelled.
    ///
    /// ```
    /// never()
    ///         ------
    /// ```
    @inlinable
    public static func never() -> Observable {
        Observable { _ in }
    }
}
