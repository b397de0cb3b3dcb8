import RxLoop
import Testing

@Suite struct ExecutorTests {
    private actor Counter {
        private let loop: EventLoop
        private(set) var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(on loop: EventLoop) { self.loop = loop }

        func increment() -> Bool {
            count += 1
            return loop.isCurrent
        }

        func incrementAcrossSuspension() async -> Bool {
            let before = loop.isCurrent
            await Task.yield()
            count += 1
            return before && loop.isCurrent
        }

        nonisolated func readAssumingIsolation() -> Int { assumeIsolated { $0.count } }
    }

    @Test func anActorLivesOnTheLoop() async {
        let loop = EventLoop(name: "actor")
        defer { loop.shutDown() }
        let counter = Counter(on: loop)
        let allThere = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 {
                group.addTask { await counter.increment() }
                group.addTask { await counter.incrementAcrossSuspension() }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(allThere)
        #expect(await counter.count == 2000)
        let read = await withCheckedContinuation { continuation in
            loop.schedule { continuation.resume(returning: counter.readAssumingIsolation()) }
        }
        #expect(read == 2000)
    }

    @Test func aTaskPrefersTheLoop() async {
        let loop = EventLoop(name: "task")
        defer { loop.shutDown() }
        let here = await Task(executorPreference: loop) {
            let before = loop.isCurrent
            await Task.yield()
            return before && loop.isCurrent
        }.value
        #expect(here)
    }
}
