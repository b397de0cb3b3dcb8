extension Observable {
    /// The values until `notifier` sends its first value; then the end. A notifier that finishes without a
    /// value changes nothing; its error ends the stream. A notifier that sends on subscription prevents the
    /// start of the source.
    ///
    /// ```
    ///            --1--2--3--4--|
    /// take(until: --------x)
    ///            --1--2--|
    /// ```
    @inlinable
    public func take<Notice>(until notifier: Observable<Notice, Failure>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let scope = observer.scope.child()
            notifier.notify(observer, in: scope) { _, _ in
                scope.close()
                observer.finish()
            }
            guard scope.isOpen else { return }
            // A child too, so that after a pause the streams resume in the order in which they were started.
            source(
                Observer(
                    scope: scope.child(), as: observer,
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    /// The values until a signal, or another stream that cannot fail, sends its first value; then the end.
    @inlinable
    @_disfavoredOverload
    public func take<Notifier: ObservableConvertible>(until notifier: Notifier) -> Observable
    where Notifier.Failure == Never {
        take(until: notifier.observable.setFailureType())
    }
}
