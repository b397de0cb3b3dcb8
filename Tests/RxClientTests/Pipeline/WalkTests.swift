import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import Synchronization
import Testing

@testable import RxClient

/// A call releases what it holds at its end, and calls back on its scheduler.
@Suite struct WalkTests {
    private struct Text: Endpoint {
        typealias Output = String
        var path = "/text"
        var options = RequestOptions()
    }

    /// Answers each request with a text of the size.
    private final class TextTransport: Transport {
        let place = HandScheduler()
        private let size: Int

        init(size: Int) { self.size = size }

        var scheduler: any Scheduler { place }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            .sequence([
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/plain"])),
                .chunk([UInt8](repeating: 0x20, count: size)), .finished(TransferMetrics()),
            ])
        }
    }

    private final class Token: Sendable {}

    /// A large response is read elsewhere, by an object that the call keeps and that keeps the call.
    @Test(arguments: [false, true])
    func aCallWithALargeResponseIsReleased(leavesEarly: Bool) async {
        let transport = TextTransport(size: Response.inPlaceLimit + 1)
        let client = Client(baseURL: "https://shop.test", transport: transport)
        weak var released: Token?
        let subscription: Subscription
        let count = Mutex(0)
        do {
            let token = Token()
            released = token
            let texts = client.request(Text())
            subscription = (leavesEarly ? texts.take(1) : texts).subscribe(onNext: { text in
                withExtendedLifetime(token) { count.withLock { $0 = text.utf8.count } }
            })
        }
        while subscription.isActive {
            transport.place.run()
            await Task.yield()
        }
        transport.place.run()
        #expect(count.withLock { $0 } == Response.inPlaceLimit + 1)
        // The thread that has read the response may hold it for a moment longer.
        for _ in 0..<1_000_000 where released != nil { await Task.yield() }
        #expect(released == nil)
    }

    @Test func aStoredResponseIsDeliveredOnTheScheduler() {
        let transport = TextTransport(size: 3)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.cachePolicy = .time(.seconds(60))
        let client = Client(configuration: configuration, transport: transport)
        let count = Mutex(0)
        let first = client.request(Text()).subscribe(onNext: { _ in count.withLock { $0 += 1 } })
        transport.place.run()
        #expect(count.withLock { $0 } == 1)
        let second = client.request(Text()).subscribe(onNext: { _ in count.withLock { $0 += 1 } })
        #expect(count.withLock { $0 } == 1)
        transport.place.run()
        #expect(count.withLock { $0 } == 2)
        #expect(client.configuration.cache.statistics.hits == 1)
        #expect(!first.isActive && !second.isActive)
    }

    @Test func aFailureBeforeTheRequestIsDeliveredOnTheScheduler() {
        let transport = TextTransport(size: 3)
        let client = Client(baseURL: "https://shop.test", transport: transport)
        let code = Mutex<NetworkError.Code?>(nil)
        let subscription = client.request(Text(options: RequestOptions(headers: ["Accept": "a\nb"])))
            .subscribe(onFailure: { error in code.withLock { $0 = error.code } })
        #expect(code.withLock { $0 } == nil)
        transport.place.run()
        #expect(code.withLock { $0 } == .invalidHeader)
        #expect(!subscription.isActive)
    }
}
