import RxLite
import RxTesting
import Testing

/// Debug builds trap if state that only a lane's order protects is accessed from outside.
@Suite struct LaneTests {
    @Test func insideItIsAllowed() {
        let scope = Scope()
        scope.lane.enter {
            scope.lane.assertInside()
            scope.onClose {}
            scope.pause()
            scope.resume()
            scope.child().close()
            scope.lane.enqueue { scope.lane.assertInside() }
        }
        let signal = Signal<Int>()
        signal.observable.subscribe { _ in scope.lane.enter { scope.lane.assertInside() } }
        signal.send(1)
    }

    #if DEBUG
    @Test func outsideADebugBuildStops() async {
        await #expect(processExitsWith: .failure) { Scope().lane.assertInside() }
        await #expect(processExitsWith: .failure) { Scope().pause() }
        await #expect(processExitsWith: .failure) { Scope().onClose {} }
        await #expect(processExitsWith: .failure) { _ = Scope().child() }
        await #expect(processExitsWith: .failure) {
            let observer = Observer<Int, Never>(scope: Scope(), next: { _ in }, end: { _ in })
            observer.next(1)
        }
        await #expect(processExitsWith: .failure) {
            let observer = Observer<Int, Never>(scope: Scope(), next: { _ in }, end: { _ in })
            observer.finish()
        }
        // A source with a scheduler that sends from another thread.
        await #expect(processExitsWith: .failure) {
            let clock = VirtualScheduler()
            let source = Observable<Int, Never>(scheduler: clock) { observer in
                clock.schedule { observer.next(1) }
            }
            source.scan(0) { $0 + $1 }.subscribe()
            try clock.run()
        }
    }
    #endif
}
