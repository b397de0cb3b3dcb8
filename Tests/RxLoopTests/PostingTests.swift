import RxLoop
import Synchronization
import Testing

@Suite struct PostingTests {
    @Test func nothingIsLostAndEachThreadKeepsItsOrder() async {
        let loop = EventLoop(name: "posting")
        let threads = 8
        let each = 20_000
        let seen = (0..<threads).map { _ in Numbers() }
        await withTaskGroup { group in
            for thread in 0..<threads {
                let mine = seen[thread]
                group.addTask {
                    for number in 0..<each { loop.schedule { mine.append(number) } }
                }
            }
        }
        loop.shutDown()
        for mine in seen { #expect(mine.all == Array(0..<each)) }
    }

    @Test func workPostedOnTheLoopRunsAfterwardsAndSocketsAreNotStarved() async {
        let loop = EventLoop(name: "rounds")
        defer { loop.shutDown() }
        let order = await withCheckedContinuation { continuation in
            let collector = Collector(expected: 3) { continuation.resume(returning: $0) }
            loop.schedule {
                loop.schedule { collector.add(2) }
                collector.add(1)
                loop.schedule { collector.add(3) }
            }
        }
        #expect(order == [1, 2, 3])
    }

    @Test func workThatBegetsWorkDoesNotKeepTimersFromRunning() async {
        let loop = EventLoop(name: "endless")
        defer { loop.shutDown() }
        let stop = Atomic<Bool>(false)
        @Sendable func again() {
            if !stop.load(ordering: .relaxed) { loop.schedule(again) }
        }
        again()
        await withCheckedContinuation { continuation in
            _ = loop.schedule(after: .milliseconds(5)) {
                stop.store(true, ordering: .relaxed)
                continuation.resume()
            }
        }
    }

    @Test func theLoopKnowsItsThread() async {
        let loop = EventLoop(name: "thread")
        let other = EventLoop(name: "other")
        #expect(!loop.isCurrent)
        let (here, there) = await withCheckedContinuation { continuation in
            loop.schedule { continuation.resume(returning: (loop.isCurrent, other.isCurrent)) }
        }
        #expect(here)
        #expect(!there)
        loop.shutDown()
        other.shutDown()
        #expect(!loop.ownsCurrentThread)
    }
}

private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])
    var all: [Int] { numbers.withLock { $0 } }
    func append(_ number: Int) { numbers.withLock { $0.append(number) } }
}
