import HTTPTypes
import RxHTTP
import RxLite
import Synchronization
import Testing

@testable import RxClient

/// The queue for a server's allowance, in isolation.
@Suite struct RateLimitQueueTests {
    /// A clock that stands still and counts its timers.
    private final class StandingClock: Scheduler {
        private struct Timer: Cancellable {
            func cancel() {}
        }

        private let count = Mutex(0)

        var timerCount: Int { count.withLock { $0 } }
        var now: Duration { .zero }
        var isCurrent: Bool { true }

        func schedule(_ work: @escaping @Sendable () -> Void) {}

        func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
            count.withLock { $0 += 1 }
            return Timer()
        }
    }

    private let clock = StandingClock()

    private static func head(remaining: Int) -> ResponseHead {
        ResponseHead(
            status: .ok, headerFields: [HTTPField.Name("RateLimit")!: #""a";r=\#(remaining);t=10"#])
    }

    /// A queue whose server has one request under way and allows no more.
    private func closedQueue() -> (RateLimitQueue, running: RateLimitQueue.Ticket) {
        let queue = RateLimitQueue(on: clock)
        let (first, running) = (RateLimitQueue.Ticket {}, RateLimitQueue.Ticket {})
        _ = (queue.arrive(first), queue.arrive(running))
        queue.leave(first, Self.head(remaining: 0))
        return (queue, running)
    }

    /// A search for each of them would take ten billion steps.
    /// A hundred thousand tickets that leave set one timer and cause no search.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [false, true])
    func givingUp(isFirstFirst: Bool) {
        let (queue, running) = closedQueue()
        let waiting = (0..<100_000).map { _ in RateLimitQueue.Ticket {} }
        let waits = waiting.map { queue.arrive($0) }
        #expect(waits.allSatisfy { $0 == .seconds(10) })
        for ticket in isFirstFirst ? waiting : waiting.reversed() { queue.leave(ticket, nil) }
        #expect(clock.timerCount == 1)
        // No place remains taken.
        let last = RateLimitQueue.Ticket {}
        queue.leave(running, Self.head(remaining: 1))
        #expect(queue.arrive(last) == nil)
    }

    /// The remaining tickets keep their order.
    @Test func order() {
        let (queue, running) = closedQueue()
        let begun = Mutex<[Int]>([])
        let waiting = (0..<6).map { number in
            RateLimitQueue.Ticket { begun.withLock { $0.append(number) } }
        }
        for ticket in waiting { _ = queue.arrive(ticket) }
        for number in [0, 3, 5] { queue.leave(waiting[number], nil) }
        queue.leave(running, Self.head(remaining: 2))
        #expect(begun.withLock { $0 } == [1, 2])
        queue.leave(waiting[1], Self.head(remaining: 2))
        #expect(begun.withLock { $0 } == [1, 2, 4])
    }
}
