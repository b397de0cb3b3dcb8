extension Observable {
    /// No value, and an immediate error.
    ///
    /// ```
    /// fail(error)
    ///             #
    /// ```
    @inlinable
    public static func fail(_ error: Failure) -> Observable {
        Observable { observer in observer.scope.perform { observer.fail(error) } }
    }
}
