extension Observable {
    /// The values until `notifier` sends its first; then the end. A notifier that ends without a value
    /// changes nothing; one that sends on subscription keeps the source from being started.
    ///
    /// ```
    ///            --1--2--3--4--|
    /// take(until: --------x)
    ///            --1--2--|
    /// ```
    @inlinable
    public func take<Notice>(until notifier: Observable<Notice, Never>) -> Observable {
        Observable(scheduler: scheduler) { [source] observer in
            let scope = observer.scope.child()
            let notifierScope = scope.child()
            notifier.subscribe(
                Observer(
                    scope: notifierScope,
                    next: { _ in
                        scope.close()
                        observer.finish()
                    },
                    end: { _ in notifierScope.close() }))
            guard scope.isOpen else { return }
            source(
                Observer(
                    scope: scope, as: observer,
                    end: { completion in
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }
}
