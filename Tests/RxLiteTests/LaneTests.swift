import RxLite
import RxTesting
import Synchronization
import Testing

/// Debug builds trap if state that only a lane's order protects is accessed from outside.
@Suite(.timeLimit(.minutes(5))) struct LaneTests {
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

    enum Restart: CaseIterable { case atTheEnd, atTheValue, atTheValueElsewhere }

    /// A stream that starts the next one is over by then, or soon after, so that at most a few lanes live at a time. More
    /// than 100,000 restarts in all.
    @Test(arguments: Restart.allCases) func manySelfRestartsKeepNoLane(_ restart: Restart) async {
        let poller = Poller(restart, rounds: 34_000)
        await withCheckedContinuation { continuation in poller.start { continuation.resume() } }
        #expect(!poller.keepsLanes)
        await until { poller.living == 0 }
    }

    enum Source: CaseIterable {
        case just, emitter, shared

        /// A stream that ends before `subscribe` returns.
        var stream: Observable<Int, Never> {
            switch self {
            case .just: .just(1)
            // Its end waits in the lane until the subscription has been set up, as does one that comes from another thread.
            case .emitter: .create { $0.finish() }
            case .shared: Observable.just(1).share()
            }
        }
    }

    /// A stream that begins again at its end, each time before `subscribe` has returned.
    @Test(arguments: Source.allCases) func restartsWithinSubscribeNeedNoStack(_ source: Source) async {
        let rounds = Shared(0)
        @Sendable func poll() {
            source.stream.subscribe(onFinish: {
                rounds.change { $0 += 1 }
                if rounds.value < 20_000 { poll() }
            })
        }
        await runWithSmallStack { poll() }
        #expect(rounds.value == 20_000)
    }

    /// A subscription made within the end of an inner stream still works for the stream around it.
    @Test func aStreamStartedAtAnEndFeedsWhatTheEndedOneFed() async {
        let lanes = Log<Lane>()
        @Sendable func noted(_ number: Int) -> Observable<Int, Never> {
            Observable { observer in
                lanes.add(observer.scope.lane)
                Observable<Int, Never>.async { number }.subscribe(observer)
            }
        }
        await withCheckedContinuation { continuation in
            let around = Observable<Int, Never> { observer in
                lanes.add(observer.scope.lane)
                Observable<Int, Never>.async {
                    await withCheckedContinuation { inner in
                        noted(1).subscribe(onFinish: {
                            noted(2).subscribe(onFinish: { inner.resume() })
                        })
                    }
                    return 0
                }
                .subscribe(observer)
            }
            around.subscribe(onFinish: { continuation.resume() })
        }
        let (around, first, second) = (lanes.entries[0], lanes.entries[1], lanes.entries[2])
        #expect(first.isUpstream(of: around))
        #expect(second.isUpstream(of: around))
        #expect(!second.isUpstream(of: first))
        #expect(!around.isUpstream(of: second))
    }

    /// A user decides how many subscriptions run within each other.
    @Test func aMillionLanesThatFeedEachOtherNeedNoStack() async {
        await runWithSmallStack {
            let first = Lane()
            var last = Lane(feeding: first)
            for _ in 0..<1_000_000 { last = Lane(feeding: last) }
            #expect(last.isUpstream(of: first))
            #expect(!last.isUpstream(of: Lane()))
        }
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

/// A stream that starts the next one, and the number of lanes that live meanwhile.
private final class Poller: Sendable {
    private struct Weak { weak var lane: Lane? }

    private struct Contents {
        var lanes: [Weak] = []
        var keepsLanes = false
    }

    private let restart: LaneTests.Restart
    private let rounds: Int
    private let contents = Mutex(Contents())
    private let clock = ActorScheduler.background()

    init(_ restart: LaneTests.Restart, rounds: Int) {
        self.restart = restart
        self.rounds = rounds
    }

    var keepsLanes: Bool { contents.withLock { $0.keepsLanes } }

    var living: Int {
        contents.withLock { contents in
            contents.lanes.removeAll { $0.lane == nil }
            return contents.lanes.count
        }
    }

    func start(_ done: @escaping @Sendable () -> Void) { poll(1, done) }

    private func poll(_ round: Int, waits: Int = 0, _ done: @escaping @Sendable () -> Void) {
        // The end of a round may still be running on another thread, which keeps the lanes after it for as long.
        let mustWait = round.isMultiple(of: 1000) && living > 16
        if waits == 1000 {
            contents.withLock { $0.keepsLanes = true }
            return done()
        }
        let answer = Observable<Int, Never> { [self] observer in
            contents.withLock { $0.lanes.append(Weak(lane: observer.scope.lane)) }
            Observable<Int, Never>.async {
                // Cancelled by nobody.
                if mustWait { try? await Task.sleep(for: .milliseconds(1)) }
                return round
            }
            .subscribe(observer)
        }
        let next: @Sendable () -> Void = { [self] in
            if mustWait { return poll(round, waits: waits + 1, done) }
            round < rounds ? poll(round + 1, done) : done()
        }
        switch restart {
        case .atTheEnd: answer.subscribe(onFinish: next)
        case .atTheValue: answer.subscribe { _ in next() }
        case .atTheValueElsewhere:
            answer.subscribe(on: clock).flatMap { Observable<Int, Never>.just($0) }.subscribe { _ in next() }
        }
    }
}
