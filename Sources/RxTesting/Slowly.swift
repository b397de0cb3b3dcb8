public import RxLite

extension Observable {
    /// Simulates a consumer that is slower than its source: takes a value, then pauses the stream for so long.
    ///
    /// The pause is the clock's time. A source that can pause stands still meanwhile.
    public func slowly(_ pause: Duration, on clock: VirtualScheduler) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope,
                next: { value in
                    observer.next(value)
                    scope.pause()
                    _ = clock.schedule(after: pause) { scope.enter { scope.resume() } }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }
}
