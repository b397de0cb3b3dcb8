extension Observable {
    /// The stream that `make` returns, made anew for each subscription.
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
