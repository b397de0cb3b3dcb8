import RxLite
import RxTesting

extension Observable {
    /// Takes a value, and pauses for so long.
    func slowly(_ pause: Duration, on clock: VirtualScheduler) -> Observable {
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
