import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import Synchronization
import Testing

@testable import RxCache
@testable import RxClient

/// The log of changes, and its effect on responses under way.
@Suite struct CacheChangesTests {
    private let a = CacheSelection.url("/a")
    private let b = CacheSelection.url("/b")

    @Test func onlyWhatBeganBeforeAChangeHasChanged() {
        var changes = CacheChanges()
        let before = changes.count
        changes.record(a)
        #expect(changes.includes([a], since: before) && changes.includes([b, a], since: before))
        #expect(!changes.includes([b], since: before) && !changes.includes([a], since: changes.count))
        changes.record(.all)
        #expect(changes.includes([b], since: before) && !changes.includes([b], since: changes.count))
    }

    @Test func aFullLogForgetsNoChange() {
        var changes = CacheChanges()
        let starts = (0..<10_000).map { number in
            defer { changes.record(.url("\(number)")) }
            return changes.count
        }
        for (number, start) in starts.enumerated() {
            #expect(changes.includes([.url("\(number)")], since: start))
        }
        #expect(!changes.includes([a], since: changes.count))
    }

    /// A response that a change overtakes while it is stored is not used, and removed.
    @Test func storing() {
        var changes = CacheChanges()
        let (first, second, third) = (UUID(), UUID(), UUID())
        let start = changes.count
        let begun = [(first, a), (second, b)].map { changes.beginStoring($0.0, of: [$0.1], since: start) }
        #expect(begun == [true, true])
        changes.record(a)
        #expect(changes.invalidates(first) && !changes.invalidates(second))
        let isLate = changes.beginStoring(third, of: [a], since: start)
        #expect(!isLate)
        let ends = [first, second].map { changes.endStoring($0) }
        #expect(ends == [true, false])
        // A lookup that began before may still find it.
        #expect(changes.invalidates(first))
    }

    /// A number that each PUT raises, and a GET reads; responses come from another thread.
    private final class Counter: Transport {
        let scheduler: any Scheduler = ActorScheduler.shared
        let value = Mutex(0)

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            Observable(scheduler: scheduler) { observer in
                let value = self.value.withLock { value in
                    if request.method == .put { value += 1 }
                    return value
                }
                let head = ResponseHead(status: .ok, headerFields: [.cacheControl: "max-age=600"])
                let events: [TransferEvent] = [
                    .head(head), .chunk(Array("\(value)".utf8)), .finished(TransferMetrics()),
                ]
                for event in events {
                    self.scheduler.schedule { observer.scope.enter { observer.next(event) } }
                }
                self.scheduler.schedule { observer.scope.enter { observer.finish() } }
            }
        }
    }

    /// On several threads no response is older than the last change that had ended when its request began.
    @Test func neverOlderThanTheLastChange() async throws {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.cachePolicy = .http
        let client = Client(configuration: configuration, transport: Counter())
        let newest = MutableProperty(0)
        @Sendable func number(_ call: InlineEndpoint) async throws -> Int {
            let response = try await client.request(call).value()
            return try #require(Int(response.text))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 {
                    newest.value = try await number(InlineEndpoint(.put, "/number"))
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<600 {
                        let least = newest.value
                        let found = try await number(InlineEndpoint(.get, "/number"))
                        try #require(found >= least)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(client.configuration.cache.statistics.hits > 0)
    }
}
