extension Observable where Element == Void {
    /// One value after `delay`, then the end.
    ///
    /// ```
    /// timer(3 ms)
    ///             ---(x|)
    /// ```
    ///
    /// - Parameter scheduler: the clock, which also delivers the value. Default: ``ActorScheduler/shared``.
    @inlinable
    public static func timer(
        _ delay: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(waiting: delay, on: scheduler)
    }
}

extension Observable where Element == Void, Failure == Never {
    /// One value after `delay`, then the end. Cannot fail, unless the context requires an error type.
    @inlinable
    public static func timer(
        _ delay: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(waiting: delay, on: scheduler)
    }
}

extension Observable where Element == Void {
    @inlinable
    init(waiting delay: Duration, on scheduler: any Scheduler) {
        self.init(scheduler: scheduler) { observer in
            let timer = scheduler.schedule(after: delay) {
                observer.scope.enter {
                    observer.next(())
                    if observer.scope.isOpen { observer.finish() }
                }
            }
            observer.scope.onClose { timer.cancel() }
        }
    }
}
