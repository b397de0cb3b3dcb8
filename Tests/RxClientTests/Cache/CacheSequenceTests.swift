import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Requests one after the other: none gets the response of a previous one.
@Suite struct CacheSequenceTests {
    /// Counts its exchanges in their responses, which come on other threads.
    private final class Counting: Transport {
        let scheduler: any Scheduler = ActorScheduler.shared
        private let count = Mutex(0)

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            Observable(scheduler: scheduler) { observer in
                let number = self.count.withLock { count in
                    count += 1
                    return count
                }
                let head = ResponseHead(status: .ok, headerFields: [.cacheControl: "no-store"])
                let events: [TransferEvent] = [
                    .head(head), .chunk(Array("\(number)".utf8)), .finished(TransferMetrics()),
                ]
                // The end comes on its own, as from a network.
                for event in events {
                    self.scheduler.schedule { observer.scope.enter { observer.next(event) } }
                }
                _ = self.scheduler.schedule(after: .milliseconds(1)) {
                    observer.scope.enter { observer.finish() }
                }
            }
        }
    }

    @Test func eachGetsItsOwnResponse() async throws {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.cachePolicy = .http
        let client = Client(configuration: configuration, transport: Counting())
        for number in 1...2000 {
            let text = try await withCheckedThrowingContinuation { continuation in
                client.get("/goods").subscribe(
                    onNext: { continuation.resume(returning: $0.text) },
                    onFailure: { continuation.resume(throwing: $0) })
            }
            try #require(text == "\(number)")
        }
        #expect(client.configuration.cache.statistics.joined == 0)
    }

    @Test(arguments: [false, true])
    func oneThatFollowsFromAnEventIsANewOne(_ fails: Bool) throws {
        let fixture = CacheFixture()
        let first: ScriptedTransport.Reply =
            fails ? .status(.notFound, after: .seconds(1)) : .json("[1]", after: .seconds(1))
        let (client, _) = fixture.client(.http, .when(.get, "/goods", first, .json("[2]")))
        let followers = MutableProperty<[Recorder<Response, NetworkError>]>([])
        let follow: @Sendable () -> Void = {
            followers.update { $0.append(Recorder(client.get("/goods"), on: fixture.clock)) }
        }
        client.get("/goods").subscribe(onNext: { _ in follow() }, onFailure: { _ in follow() })
        try fixture.clock.run()
        #expect(followers.value.flatMap { $0.values.map(\.text) } == ["[2]"])
    }
}
