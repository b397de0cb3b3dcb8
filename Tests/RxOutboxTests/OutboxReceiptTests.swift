#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxParameters
import RxTesting
import Testing

/// The results of delivered entries, which a later ticket finds.
@Suite(.timeLimit(.minutes(3))) struct OutboxReceiptTests {
    /// The progress that the ticket of a former entry shows, and whether it has ended.
    private func later(_ outbox: Outbox, _ id: OutboxID, _ fixture: OutboxFixture) throws -> [String] {
        let progress = Recorder(outbox.ticket(PlaceOrder.self, of: id).progress, on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(1))
        #expect(progress.isFinished)
        return progress.values.map(text)
    }

    /// A result is found for its time, by each later run of the program, and then no more.
    @Test func lifetime() throws {
        let store = MemoryOutboxStore()
        let fixture = OutboxFixture(store: store)
        let id: OutboxID
        do {
            let outbox = try fixture.outbox()
            id = try fixture.enqueue(outbox, 5).id
            try fixture.clock.advance(by: .seconds(1))
        }
        let outbox = try fixture.outbox { $0.receipts?.lifetime = .seconds(3600) }
        try fixture.clock.advance(by: .seconds(3590))
        #expect(try later(outbox, id, fixture) == ["delivered Receipt(number: 5)"])
        let output = Recorder(outbox.ticket(PlaceOrder.self, of: id).output(), on: fixture.clock)
        #expect(output.values == [Receipt(number: 5)])
        // Nobody has removed it yet, but it is too old.
        try fixture.clock.advance(by: .seconds(60))
        #expect(store.receipts.count == 1)
        #expect(try later(outbox, id, fixture) == ["gone"])
        // The next start removes it.
        let next = try fixture.outbox { $0.receipts?.lifetime = .seconds(3600) }
        _ = Recorder(outbox.drain(within: .zero), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(10))
        #expect(next.state.value.role == .sender)
        #expect(store.receipts.isEmpty)
    }

    /// Only the latest receipts are kept.
    @Test func limit() throws {
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox { $0.receipts?.limit = 10 }
        var ids: [OutboxID] = []
        for number in 0..<400 {
            ids.append(try fixture.enqueue(outbox, number, order: "a").id)
            try fixture.clock.advance(by: .milliseconds(25))
            #expect(fixture.store.receipts.count <= 10 + 128)
        }
        #expect(fixture.ledger.numbers.count == 400)
        #expect(try later(outbox, ids[0], fixture) == ["gone"])
        for number in 391..<400 {
            #expect(try later(outbox, ids[number], fixture) == ["delivered Receipt(number: \(number))"])
        }
    }

    /// A result that is too large is not kept, and none is kept without rules.
    @Test(arguments: [OutboxReceiptRules(largestSize: 5), nil])
    func unkept(rules: OutboxReceiptRules?) throws {
        let fixture = OutboxFixture()
        let former = try fixture.outbox()
        let kept = try fixture.enqueue(former, 1).id
        try fixture.clock.advance(by: .seconds(1))
        _ = Recorder(former.drain(within: .zero), on: fixture.clock)
        let outbox = try fixture.outbox { $0.receipts = rules }
        let ticket = try fixture.enqueue(outbox, 2)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(10))
        #expect(progress.values.last.map(text) == "delivered Receipt(number: 2)")
        #expect(try later(outbox, ticket.id, fixture) == ["gone"])
        #expect(fixture.store.receipts.map(\.id) == (rules == nil ? [] : [kept]))
    }

    /// A sealed receipt shows nothing of the request and the response.
    @Test func sealed() throws {
        // Sealing twice, as an endpoint within a receipt, is not opening.
        let seal = OutboxSeal(
            seal: { Data($0.map { $0 &+ 0x5A }) }, open: { Data($0.map { $0 &- 0x5A }) })
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox { $0.seal = seal }
        let id = try fixture.enqueue(outbox, 7_654_321).id
        try fixture.clock.advance(by: .seconds(1))
        let receipt = try #require(fixture.store.receipts.first)
        #expect(receipt.isSealed)
        for secret in [
            "7654321", "number", "shop.test", Data("{\"number\":7654321}".utf8).base64EncodedString(),
        ] {
            #expect(receipt.content.firstRange(of: Data(secret.utf8)) == nil, "\(secret)")
        }
        #expect(try later(outbox, id, fixture) == ["delivered Receipt(number: 7654321)"])
        // Without the seal it cannot be read.
        _ = Recorder(outbox.drain(within: .zero), on: fixture.clock)
        let other = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(10))
        #expect(try later(other, id, fixture) == ["gone"])
    }

    /// Outputs that cannot be encoded come back as well: they are made from the response again.
    @Test func outputs() throws {
        struct Raw: OutboxEndpoint {
            static let outboxName = "raw"
            typealias Output = Response
            var path: String { "/raw" }
            var method: HTTPRequest.Method { .post }
        }
        struct Silent: OutboxEndpoint {
            static let outboxName = "silent"
            typealias Output = Void
            var path: String { "/silent" }
            var method: HTTPRequest.Method { .post }
        }
        struct Doubled: OutboxEndpoint {
            static let outboxName = "doubled"
            typealias Output = Int
            var factor: Int
            var path: String { "/doubled" }
            var method: HTTPRequest.Method { .post }
            func output(from response: Response) throws(NetworkError) -> Int {
                try response.decode(Receipt.self).number * factor
            }
        }
        struct Wrapped: OutboxEndpoint {
            static let outboxName = "wrapped"
            typealias Output = Receipt
            var path: String { "/wrapped" }
            var method: HTTPRequest.Method { .post }
            var options: RequestOptions {
                RequestOptions(
                    envelope: Envelope(code: "errcode", message: "msg", payload: "data", success: 200))
            }
        }
        let enveloped = #"{"errcode":200,"msg":"ok","data":{"number":9}}"#
        let fixture = OutboxFixture([
            .json("{\"number\":4}", headers: [.setCookie: "token=secret", .location: "/orders/4"]),
            .json("{}"), .json("{\"number\":4}"), .json(enveloped),
        ])
        let types: [any OutboxEndpoint.Type] = [Raw.self, Silent.self, Doubled.self, Wrapped.self]
        let first = try fixture.outbox(types)
        func send<E: OutboxEndpoint>(_ endpoint: E) throws -> OutboxID {
            let ticket = Recorder(first.enqueue(endpoint, key: .generated(.stripe)), on: fixture.clock)
            try fixture.clock.advance(by: .seconds(1))
            guard let id = ticket.values.first?.id else { throw NetworkError(.noValue, "not durable yet") }
            return id
        }
        let ids = (try send(Raw()), try send(Silent()), try send(Doubled(factor: 2)), try send(Wrapped()))
        _ = Recorder(first.drain(within: .zero), on: fixture.clock)
        let outbox = try fixture.outbox(types)
        try fixture.clock.advance(by: .seconds(10))
        let raw = Recorder(outbox.ticket(Raw.self, of: ids.0).output(), on: fixture.clock)
        let response = try #require(raw.values.first)
        #expect(response.text == "{\"number\":4}" && response.status == .ok)
        #expect(response.head[.location] == "/orders/4" && response.head[.setCookie] == nil)
        #expect(Recorder(outbox.ticket(Silent.self, of: ids.1).output(), on: fixture.clock).values.count == 1)
        #expect(Recorder(outbox.ticket(Doubled.self, of: ids.2).output(), on: fixture.clock).values == [8])
        let wrapped = Recorder(outbox.ticket(Wrapped.self, of: ids.3).output(), on: fixture.clock)
        #expect(wrapped.values == [Receipt(number: 9)])
        // The ticket of another type finds nothing.
        let other = Recorder(outbox.ticket(Doubled.self, of: ids.3).progress, on: fixture.clock)
        #expect(other.values.count == 1 && other.isFinished)
        if case .gone? = other.values.first {} else { Issue.record("\(other.values)") }
    }

    /// A receipt that a release with JSON has kept is still read.
    @Test func formerForm() throws {
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        let id = try fixture.enqueue(outbox, 5).id
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let content = """
            {"name": "order.place", "version": 1, "isSealed": false, "endpoint": "\(base64("{\"number\":5,\"files\":[]}"))",
             "url": "https://shop.test/orders", "status": 200, "fields": ["content-type", "application/json"],
             "payloadPath": [], "body": "\(base64("{\"number\":5}"))"}
            """
        let receipt = OutboxReceipt(
            id: id, delivered: fixture.clock.date, isSealed: false, content: Data(content.utf8))
        let change = Recorder(fixture.store.change(.complete(id, receipt), under: nil), on: fixture.clock)
        #expect(change.values == [.applied(nil)])
        _ = Recorder(outbox.drain(within: .zero), on: fixture.clock)
        let next = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(1))
        #expect(try later(next, id, fixture) == ["delivered Receipt(number: 5)"])
    }

    /// A store that fails while a receipt is looked for does not make the entry look gone.
    @Test func failingStore() throws {
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox()
        let id = try fixture.enqueue(outbox, 1).id
        try fixture.clock.advance(by: .seconds(1))
        fixture.store.fail(with: NetworkError(.file, "the disk is broken"))
        let progress = Recorder(outbox.ticket(PlaceOrder.self, of: id).progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(5))
        #expect(progress.values.isEmpty && !progress.isFinished)
        fixture.store.fail(with: nil)
        try fixture.clock.advance(by: .seconds(60))
        #expect(progress.values.map(text) == ["delivered Receipt(number: 1)"])
    }
}
#endif
