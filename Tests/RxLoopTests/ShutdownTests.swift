import RxLite
import RxLoop
import Synchronization
import Testing

/// `shutDown()` itself stops the process unless `uv_loop_close` says 0, so that getting past it is the proof.
@Suite struct ShutdownTests {
    @Test func pendingWorkRunsAndPendingTimersDoNot() {
        let loop = EventLoop(name: "shutdown")
        let works = Atomic<Int>(0)
        let timers = Atomic<Int>(0)
        let releases = Atomic<Int>(0)
        for _ in 0..<1000 {
            let token = Token { releases.add(1, ordering: .relaxed) }
            _ = loop.schedule(after: .seconds(3600)) {
                token.touch()
                timers.add(1, ordering: .relaxed)
            }
            loop.schedule { works.add(1, ordering: .relaxed) }
        }
        loop.shutDown()
        #expect(works.load(ordering: .relaxed) == 1000)
        #expect(timers.load(ordering: .relaxed) == 0)
        #expect(releases.load(ordering: .relaxed) == 1000)
    }

    @Test func itIsIdempotentAndFromManyThreadsAtOnce() async {
        let loop = EventLoop(name: "twice")
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { loop.shutDown() } }
        }
        loop.shutDown()
        let runs = Atomic<Int>(0)
        loop.schedule { runs.add(1, ordering: .relaxed) }
        _ = loop.schedule(after: .zero) { runs.add(1, ordering: .relaxed) }
        _ = loop.schedule(after: .milliseconds(1)) { runs.add(1, ordering: .relaxed) }
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test func hooksRunOnTheLoopLastFirstUnlessTakenBack() {
        let loop = EventLoop(name: "hooks")
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { text in order.withLock { $0.append(text) } }
        _ = loop.onShutdown { note("first \(loop.isCurrent)") }
        let takenBack = loop.onShutdown { note("taken back") }
        _ = loop.onShutdown {
            note("last \(loop.isCurrent)")
            loop.schedule { note("scheduled by a hook") }
        }
        takenBack.cancel()
        loop.shutDown()
        #expect(order.withLock { $0 } == ["last true", "first true", "scheduled by a hook"])
    }

    @Test func loopsComeAndGoWhileOthersPost() async {
        for _ in 0..<50 {
            let loop = EventLoop(name: "short")
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { for _ in 0..<200 { loop.schedule {} } } }
                group.addTask { loop.shutDown() }
            }
        }
    }

    @Test func aLoopIsReleasedAfterItsEnd() {
        weak var released: EventLoop?
        do {
            let loop = EventLoop(name: "released")
            released = loop
            _ = loop.schedule(after: .seconds(60)) { _ = loop.isCurrent }
            loop.shutDown()
        }
        #expect(released == nil)
    }
}
