extension Observable {
    /// The latest value each time `notifier` sends, if that value has not been sent yet. A value that waits
    /// at the end is dropped. An end of `notifier` has no effect; its error ends the stream.
    ///
    /// ```
    ///             --1-2-----3---|
    /// sample(by:  -----x--x--x--)
    ///             -----2-----3--|
    /// ```
    @inlinable
    public func sample<Notice>(by notifier: Observable<Notice, Failure>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let latest = LaneState<Element?>(nil, in: observer.scope.lane)
            let scope = observer.scope.child()
            scope.onClose { latest.value = nil }
            source(
                Observer(
                    scope: scope.child(), next: { latest.value = $0 },
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
            guard scope.isOpen else { return }
            notifier.notify(observer, in: scope) { _, _ in
                guard let value = latest.value else { return }
                latest.value = nil
                observer.next(value)
            }
        }
    }

    /// The latest value each time a signal sends, if that value has not been sent yet.
    @inlinable
    @_disfavoredOverload
    public func sample<Notifier: ObservableConvertible>(by notifier: Notifier) -> Observable
    where Notifier.Failure == Never {
        sample(by: notifier.observable.setFailureType())
    }

    /// The latest value at the end of every `period`, if one has arrived within it. A value that waits at the
    /// end is dropped.
    ///
    /// ```
    ///                    -1-2-------3-4--|
    /// sample(every: 5 ms)
    ///                    -----2---------4|
    /// ```
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func sample(every period: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        sample(by: .interval(period, on: scheduler ?? self.scheduler ?? ActorScheduler.shared))
    }
}
