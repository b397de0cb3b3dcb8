extension Observable {
    /// The stream that `make` returns, created for each subscription. A thrown error fails the stream.
    ///
    /// ```
    /// deferred { --1-| }
    ///                    --1-|
    /// ```
    ///
    /// - Parameter scheduler: the scheduler of all streams that `make` returns, if they have the same.
    ///   Default `nil`: unknown until there is a stream.
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
