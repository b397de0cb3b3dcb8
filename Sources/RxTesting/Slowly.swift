public import RxLite

extension Observable {
    /// Simulates a consumer that is slower than its source: takes a value, then pauses the stream for a time.
    ///
    /// The pause is measured by the clock. A source that can pause stops meanwhile.
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
