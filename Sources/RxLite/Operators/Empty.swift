extension Observable {
    /// No value, and an end at once.
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
