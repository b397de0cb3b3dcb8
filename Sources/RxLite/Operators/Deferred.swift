extension Observable {
    /// The stream that `make` returns, created for each subscription. A thrown error is the stream's.
    ///
    /// ```
    /// deferred { --1-| }
    ///                    --1-|
    /// ```
    ///
    /// - Parameter scheduler: what the streams that `make` returns run on, where they all run on the same. Default: not
    ///   known before there is one.
    @inlinable
    public static func deferred(
        on scheduler: (any Scheduler)? = nil, _ make: @escaping @Sendable () throws(Failure) -> Observable
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            do throws(Failure) {
                try make().subscribe(observer)
            } catch {
                observer.scope.perform { observer.fail(error) }
            }
        }
    }
}
