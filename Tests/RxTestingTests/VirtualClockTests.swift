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
}
