import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// A queue to which requests are added at any time.
@Suite struct RequestQueueTests {
    private let clock = VirtualScheduler()

    private func work(_ name: Int, _ milliseconds: Int = 10) -> Observable<Int, NetworkError> {
        Observable<Int, NetworkError>.just(name).delay(.milliseconds(milliseconds), on: clock)
    }

    /// At most `limit` run, first come, first served.
    @Test(arguments: [(1, 50), (2, 30), (5, 10), (0, 50)])
    func limit(limit: Int, milliseconds: Int) throws {
        let queue = RequestQueue(limit: limit)
        let begun = Mutex<[Int]>([]), running = Mutex((now: 0, most: 0))
        let recorders = (1...5).map { number in
            let stream = work(number)
                .handleEvents(onSubscribe: {
                    begun.withLock { $0.append(number) }
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                })
                .finally { running.withLock { $0.now -= 1 } }
            return Recorder(stream.queued(in: queue), on: clock)
        }
        #expect(queue.activity.count.value == 5)
        try clock.run()
        #expect(recorders.map(\.values) == [[1], [2], [3], [4], [5]])
        #expect(begun.withLock { $0 } == [1, 2, 3, 4, 5])
        #expect(running.withLock { $0.most } == max(1, limit))
        #expect(clock.now == .milliseconds(milliseconds))
        #expect(queue.activity.count.value == 0)
    }

    /// Whoever asks is told once when all added requests have ended in any way; at once by an idle queue.
    @Test func allComplete() throws {
        let queue = RequestQueue(limit: 1)
        let idle = Recorder(queue.allComplete, on: clock)
        #expect(idle.values.count == 1 && idle.isFinished)
        let indicator = Recorder(
            queue.activity.isActive.observable, on: clock)
        _ = Recorder(work(1).queued(in: queue), on: clock)
        let failing = Observable<Int, NetworkError>.fail(NetworkError(.connect, "no"))
        _ = Recorder(failing.queued(in: queue), on: clock)
        let complete = Recorder(queue.allComplete, on: clock)
        try clock.advance(by: .milliseconds(5))
        // Added while another one runs, and cancelled while waiting and while running.
        let waiting = Recorder(work(3).queued(in: queue), on: clock)
        let late = Recorder(work(4, 100).queued(in: queue), on: clock)
        waiting.cancel()
        #expect(queue.activity.count.value == 3)
        try clock.advance(to: .milliseconds(50))
        #expect(complete.values.isEmpty)
        late.cancel()
        #expect(complete.values.count == 1 && complete.isFinished)
        #expect(indicator.values == [false, true, false])
        _ = Recorder(work(5).queued(in: queue), on: clock)
        let again = Recorder(queue.allComplete, on: clock)
        #expect(again.values.isEmpty)
        try clock.run()
        #expect(again.values.count == 1 && complete.values.count == 1 && idle.values.count == 1)
        #expect(indicator.values == [false, true, false, true, false])
        #expect(waiting.values.isEmpty && late.values.isEmpty)
    }

    /// The place is free once the subscriber has been notified, in time for a request that it adds.
    @Test func chained() throws {
        let queue = RequestQueue(limit: 1)
        let values = Mutex<[Int]>([])
        work(1).queued(in: queue).subscribe(onNext: { number in
            values.withLock { $0.append(number) }
            self.work(2).queued(in: queue)
                .subscribe(onNext: { number in values.withLock { $0.append(number) } })
        })
        let complete = Recorder(queue.allComplete.map { values.withLock { $0.count } }, on: clock)
        try clock.run()
        #expect(values.withLock { $0 } == [1, 2])
        #expect(complete.values == [2])
    }

    /// A hundred thousand streams that end at once do not grow the stack.
    @Test func synchronous() {
        let queue = RequestQueue(limit: 1)
        let gate = Signal<Void>()
        gate.observable.take(1).queued(in: queue).subscribe()
        let sum = Mutex(0)
        for number in 1...100_000 {
            Observable<Int, Never>.just(number).queued(in: queue).subscribe(onNext: { number in
                sum.withLock { $0 += number }
            })
        }
        #expect(queue.activity.count.value == 100_001)
        gate.send()
        #expect(sum.withLock { $0 } == 5_000_050_000)
        #expect(queue.activity.count.value == 0)
    }

    /// From many threads nothing is lost and the limit is respected.
    @Test(.timeLimit(.minutes(1)))
    func threads() async throws {
        let queue = RequestQueue(limit: 3)
        let gauge = Gauge()
        let stream = Observable<Int, Never>.just(1).observe(on: ActorScheduler.shared)
            .handleEvents(onSubscribe: { gauge.change(by: 1) }).finally { gauge.change(by: -1) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { _ = try await stream.queued(in: queue).value() } }
            }
            try await group.waitForAll()
        }
        #expect(gauge.text == "0 now, 800 in all")
        #expect(gauge.most <= 3)
        #expect(queue.activity.count.value == 0)
    }
}

/// The number of running streams.
private final class Gauge: Sendable {
    private let counts = Mutex((now: 0, most: 0, all: 0))
    var most: Int { counts.withLock { $0.most } }
    var text: String { counts.withLock { "\($0.now) now, \($0.all) in all" } }

    func change(by step: Int) {
        counts.withLock { $0 = ($0.now + step, max($0.most, $0.now + step), $0.all + max(0, step)) }
    }
}
