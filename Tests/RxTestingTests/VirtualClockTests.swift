import HTTPTypes
import RxClient
import RxLite
import RxTesting
import Testing

@Suite struct VirtualClockTests {
    private let scheduler = VirtualScheduler()

    /// Lets other tasks run until something waits on the scheduler.
    private func untilPending() async {
        while scheduler.pendingCount == 0 { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1)))
    func aTaskSleepsInVirtualTime() async throws {
        let clock: any Clock<Duration> = scheduler.clock
        let task = Task {
            try await clock.sleep(for: .seconds(3600))
            return true
        }
        await untilPending()
        try scheduler.advance(by: .seconds(3599))
        #expect(scheduler.pendingCount == 1)
        try scheduler.advance(by: .seconds(1))
        #expect(try await task.value)
        #expect(scheduler.clock.now.time == .seconds(3600))
    }

    @Test(.timeLimit(.minutes(1)))
    func aCancelledTaskLeavesNoTimer() async throws {
        let task = Task { [scheduler] in try await Task.sleep(for: .seconds(1), clock: scheduler.clock) }
        await untilPending()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(scheduler.pendingCount == 0)

        let late = Task { [scheduler] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await scheduler.clock.sleep(until: scheduler.clock.now.advanced(by: .seconds(1)))
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(scheduler.pendingCount == 0)
    }

    /// Asynchronous code runs in virtual time, without anyone who advances it.
    @Test(.timeLimit(.minutes(1)))
    func anHourOfAsynchronousCode() async throws {
        let scheduler = scheduler
        let seen = try await scheduler.run {
            try await scheduler.clock.sleep(for: .seconds(3600))
            return scheduler.now
        }
        #expect(seen == .seconds(3600))
        #expect(scheduler.pendingCount == 0)
    }

    /// Child tasks and actors take turns in the same order in each run.
    @Test(.timeLimit(.minutes(1)))
    func theSameInEachRun() async throws {
        actor Notes {
            var lines: [String] = []
            func add(_ line: String) { lines.append(line) }
        }
        var runs: Set<[String]> = []
        for _ in 0..<50 {
            let scheduler = VirtualScheduler()
            let lines = try await scheduler.run {
                let notes = Notes()
                await withThrowingTaskGroup { group in
                    for number in 0..<8 {
                        group.addTask {
                            await notes.add("\(number) begins")
                            try await scheduler.clock.sleep(for: .seconds(number % 3))
                            await notes.add("\(number) at \(scheduler.now)")
                        }
                    }
                }
                return await notes.lines
            }
            #expect(lines.count == 16)
            runs.insert(lines)
        }
        #expect(runs.count == 1)
    }

    /// A request is awaited, and a loop over a stream runs, in virtual time.
    @Test(.timeLimit(.minutes(1)))
    func requests() async throws {
        let scheduler = scheduler
        let transport = ScriptedTransport(
            on: scheduler, [.when(.get, "/cart", .json(#""three""#, after: .seconds(5)))])
        let client = Client(baseURL: "https://shop.test", transport: transport)
        let text = try await scheduler.run { try await client.get("/cart").decode(String.self).value() }
        #expect(text == "three")
        #expect(scheduler.now == .seconds(5))

        let ticks = try await scheduler.run {
            var count = 0
            for await _ in Observable<Int, Never>.interval(.seconds(60), on: scheduler).take(10) {
                count += 1
            }
            return count
        }
        #expect(ticks == 10)
        #expect(scheduler.now == .seconds(605))
    }

    /// It waits for code that runs elsewhere.
    @Test(.timeLimit(.minutes(1)))
    func elsewhere() async throws {
        let number = try await scheduler.run { await Task.detached { await Self.onTheMainActor() }.value }
        #expect(number == 7)
    }

    @MainActor private static func onTheMainActor() async -> Int {
        await Task.yield()
        return 7
    }

    /// Its error and its cancellation pass through; time without end is an error.
    @Test(.timeLimit(.minutes(1)))
    func ends() async throws {
        struct Refused: Error {}
        let scheduler = scheduler
        await #expect(throws: Refused.self) { try await scheduler.run { throw Refused() } }

        let waiting = Task {
            try await scheduler.run { await AsyncStream<Int> { _ in }.first { _ in true } }
        }
        waiting.cancel()
        #expect(try await waiting.value == nil)

        let endless = VirtualScheduler(stepLimit: 1000)
        await #expect(throws: VirtualTimeError.self) {
            try await endless.run { while true { try await endless.clock.sleep(for: .seconds(1)) } }
        }
    }
}
