#if Inspector && Outbox
import FoundationEssentials
import HTTPTypes
@testable import RxInspector
import RxNetworking
import RxOutbox
import RxTesting
import Testing

private struct Order: OutboxEndpoint {
    static let outboxName = "order"
    typealias Output = Response
    var note: String
    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["note": note] }
}

extension StreamTests {
    @Suite(.timeLimit(.minutes(1))) struct OutboxStreamTests {
        /// The page shows what an outbox does, its dead letters and their reasons, and nothing of a request's content.
        @Test func theLifeOfEntries() async throws {
            let inspector = try await Inspector.startForTests()
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let clock = VirtualScheduler()
            let transport = ScriptedTransport(
                on: clock, replies: [.status(.serviceUnavailable), .json("{}"), .status(.badRequest)])
            let client = Client(baseURL: "https://shop.test", transport: transport)
            let outbox = try Outbox(store: MemoryOutboxStore(), client: client, endpoints: [Order.self])
            for _ in 0..<2 {
                outbox.enqueue(Order(note: "canary9"), key: .withoutKey(.atLeastOnce), order: "a").subscribe()
            }
            try clock.advance(by: .seconds(60))

            let dead = "sender: 0 queued, 0 sending, 0 waiting, 1 dead"
            await reader.wait { $0.events.contains { $0 == ("outbox", "value", dead) } }
            await reader.wait {
                $0.events.contains { $0.name == "outbox events" && $0.text.contains("dead") }
            }
            let texts = reader.events.filter { $0.name == "outbox events" }.map(\.text)
            for part in [
                "enqueued order", "sending (attempt 1)", "waiting until", "delivered after 2 attempts",
            ] {
                #expect(texts.contains { $0.contains(part) }, "\(part)")
            }
            #expect(texts.contains { $0.contains("dead: refused: status [400]") }, "\(texts)")
            #expect(!reader.events.contains { $0.text.contains("canary9") })
            await inspector.stop()
        }

        /// A page that is opened later shows the dead letters that are left.
        @Test func openedLater() async throws {
            let clock = VirtualScheduler()
            let client = Client(
                baseURL: "https://shop.test",
                transport: ScriptedTransport(on: clock) { _ in .status(.badRequest) })
            let outbox = try Outbox(store: MemoryOutboxStore(), client: client, endpoints: [Order.self])
            outbox.enqueue(Order(note: "x"), key: .withoutKey(.atLeastOnce)).subscribe()
            try clock.advance(by: .seconds(60))

            let inspector = try await Inspector.startForTests()
            let reader = FeedReader(inspector)
            await reader.wait { reader in
                reader.all.contains { "\($0)".contains("0 waiting, 1 dead") }
            }
            #expect(outbox.state.value.counts.dead == 1)
            await inspector.stop()
        }
    }
}
#endif
