extension Observable {
    /// No value, and an immediate end.
    ///
    /// ```
    /// empty()
    ///         |
    /// ```
    @inlinable
    public static func empty() -> Observable {
        Observable { observer in observer.scope.perform { observer.finish() } }
    }
}
