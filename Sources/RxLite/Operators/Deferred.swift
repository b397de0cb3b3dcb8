extension Observable {
    /// The stream that `make` returns, made anew for each subscription. A thrown error is the stream's.
    ///
    /// ```
    /// deferred { --1-| }
    ///                    --1-|
    /// ```
    @inlinable
    public static func deferred(
        _ make: @escaping @Sendable () throws(Failure) -> Observable
    ) -> Observable {
        Observable { observer in
            do throws(Failure) {
                try make().subscribe(observer)
            } catch {
                observer.scope.perform { observer.fail(error) }
            }
        }
    }
}
