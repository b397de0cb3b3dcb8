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

/// The stored forms of endpoints: their versions, names, attachments and seals.
@Suite(.timeLimit(.minutes(3))) struct OutboxFormTests {
    /// An attachment is checked before it is sent: one that has changed or is missing makes a dead letter.
    @Test func attachments() throws {
        let fixture = OutboxFixture()
        let files = try #require(fixture.transport.files as? MemoryFileSystem)
        for path in ["/a.txt", "/b.txt", "/c.txt"] {
            _ = Recorder(files.replace(path, with: Array("content".utf8)), on: fixture.clock)
        }
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        for (number, path) in [(1, "/a.txt"), (2, "/b.txt"), (3, "/c.txt")] {
            let order = PlaceOrder(number: number, files: [path])
            _ = Recorder(outbox.enqueue(order, key: .generated(.stripe)), on: fixture.clock)
            try fixture.clock.advance(by: .seconds(1))
        }
        let digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
        #expect(
            fixture.store.entries.map(\.attachments).first
                == [OutboxAttachment(path: "/a.txt", size: 7, digest: digest)])
        _ = Recorder(files.replace("/b.txt", with: Array("changed".utf8)), on: fixture.clock)
        _ = Recorder(files.remove("/c.txt"), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.ledger.numbers == [1])
        #expect(
            fixture.store.entries.map(\.delivery.deadReason) == [
                .attachment(path: "/b.txt"), .attachment(path: "/c.txt"),
            ])
        let missing = Recorder(
            outbox.enqueue(PlaceOrder(number: 4, files: ["/none"]), key: .generated(.stripe)),
            on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(missing.failure?.code == .file)
    }

    /// Of several attachments the reason names the one that is missing.
    @Test func missingAttachment() throws {
        let fixture = OutboxFixture()
        let files = try #require(fixture.transport.files as? MemoryFileSystem)
        for path in ["/a.txt", "/b.txt"] { files[path] = Array("content".utf8) }
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        let order = PlaceOrder(number: 1, files: ["/a.txt", "/b.txt"])
        _ = Recorder(outbox.enqueue(order, key: .generated(.stripe)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        files["/b.txt"] = nil
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.store.entries.map(\.delivery.deadReason) == [.attachment(path: "/b.txt")])
    }

    /// A file that cannot be read now is read again later.
    @Test(arguments: [MemoryFileSystem.Operation.status, .read])
    func unreadableAttachment(operation: MemoryFileSystem.Operation) throws {
        let fixture = OutboxFixture()
        let files = try #require(fixture.transport.files as? MemoryFileSystem)
        files["/a.txt"] = Array("content".utf8)
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        let order = PlaceOrder(number: 1, files: ["/a.txt"])
        let tickets = Recorder(outbox.enqueue(order, key: .generated(.stripe)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        let progress = Recorder(try #require(tickets.values.first).progress, on: fixture.clock)
        files.fail(operation, of: "/a.txt", "the disk is away")
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.ledger.numbers == [1])
        #expect(progress.values.map(text).contains { $0.hasPrefix("waiting: file") })
    }

    /// A form that the program does not know waits with the reason, and is sent by the release that can read it, at once.
    @Test func forms() throws {
        struct Newer: OutboxEndpoint {
            static let outboxName = PlaceOrder.outboxName
            static let outboxVersion = 2
            typealias Output = Response
            var order: Int
            var path: String { "/orders" }
            var method: HTTPRequest.Method { .post }
            var parameters: Parameters { ["number": order] }

            static func migrate(_ content: Data, from version: Int) throws -> Newer {
                let old = try JSONDecoder().decode([String: Int].self, from: content.filteredNumbers)
                return Newer(order: old["number"] ?? 0)
            }
        }
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let first = try fixture.outbox()
        _ = try fixture.enqueue(first, 5)
        Recorder(first.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.wifi)

        let unaware = try fixture.outbox([])
        try fixture.clock.advance(by: .seconds(1))
        guard case .waiting(_, let reason) = fixture.store.entries.first?.delivery.phase else {
            Issue.record("not waiting")
            return
        }
        #expect(reason == .unreadable("no endpoint of this program is named order.place"))
        #expect(fixture.store.entries.first?.delivery.mayHaveArrivedSince == nil)
        Recorder(unaware.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))

        let newer = try fixture.outbox([Newer.self])
        try fixture.clock.advance(by: .milliseconds(500))
        #expect(fixture.ledger.numbers == [5])
        withExtendedLifetime(newer) {}
    }

    /// During a rolling release the sender of the former release leaves the entries of the new one, and those behind them in
    /// their order, to a sender of the new release.
    @Test func rollingRelease() throws {
        struct Newer: OutboxEndpoint {
            static let outboxName = PlaceOrder.outboxName
            static let outboxVersion = 2
            typealias Output = Receipt
            var goods: Int
            var path: String { "/orders" }
            var method: HTTPRequest.Method { .post }
            var parameters: Parameters { ["number": goods] }

            static func migrate(_ content: Data, from version: Int) throws -> Newer {
                Newer(goods: try JSONDecoder().decode(PlaceOrder.self, from: content).number)
            }
        }
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let first = try fixture.outbox([Newer.self])
        _ = Recorder(first.enqueue(Newer(goods: 1), key: .generated(.stripe), order: "a"), on: fixture.clock)
        Recorder(first.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))

        fixture.reachability.set(.wifi)
        let former = try fixture.outbox()
        _ = try fixture.enqueue(former, 2, order: "a")
        _ = try fixture.enqueue(former, 3)
        try fixture.clock.advance(by: .seconds(24 * 3600))
        #expect(fixture.sent == [3])
        #expect(fixture.store.entries.map(\.delivery.deadReason) == [nil, nil])
        Recorder(former.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))

        let newer = try fixture.outbox([Newer.self])
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent == [3, 1, 2])
        withExtendedLifetime(newer) {}
    }

    /// A version without a migration is a dead letter.
    @Test func versions() throws {
        struct Newer: OutboxEndpoint {
            static let outboxName = PlaceOrder.outboxName
            static let outboxVersion = 2
            typealias Output = Response
            var path: String { "/orders" }
        }
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let first = try fixture.outbox()
        _ = try fixture.enqueue(first, 5)
        Recorder(first.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.wifi)
        let newer = try fixture.outbox([Newer.self])
        try fixture.clock.advance(by: .seconds(1))
        guard case .unreadable(let reason) = fixture.store.entries.first?.delivery.deadReason else {
            Issue.record("not dead")
            return
        }
        #expect(reason.contains("version 1 of order.place cannot be read by version 2"))
        #expect(fixture.sent.isEmpty)
        withExtendedLifetime(newer) {}
    }

    /// Two endpoints of one name are refused, and so is one that the outbox does not know.
    @Test func names() throws {
        struct Other: OutboxEndpoint {
            static let outboxName = PlaceOrder.outboxName
            typealias Output = Response
            var path: String { "/" }
        }
        let fixture = OutboxFixture()
        #expect(throws: NetworkError.self) { try fixture.outbox([PlaceOrder.self, Other.self]) }
        let outbox = try fixture.outbox([PlaceOrder.self, PlaceOrder.self])
        let stream = Recorder(outbox.enqueue(Other(), key: .withoutKey(.atLeastOnce)), on: fixture.clock)
        #expect(stream.failure?.code == .invalidConfiguration)
    }

    /// Sealed entries show nothing of the endpoint, and are dead letters without the seal.
    @Test func sealed() throws {
        let flip: @Sendable (Data) -> Data = { Data($0.map { $0 ^ 0x55 }) }
        let seal = OutboxSeal(seal: { flip($0) }, open: { flip($0) })
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox { $0.seal = seal }
        let id = try fixture.enqueue(outbox, 5).id
        let raw = Recorder(fixture.store.content(of: id), on: fixture.clock).values.first ?? nil
        #expect(raw.map { String(decoding: $0, as: UTF8.self).contains("number") } == false)
        let content = Recorder(outbox.content(of: id), on: fixture.clock).values.first
        #expect(content.map { String(decoding: $0, as: UTF8.self).contains("number") } == true)
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(5))
        #expect(fixture.ledger.numbers == [5])

        fixture.reachability.set(.unreachable)
        _ = try fixture.enqueue(outbox, 6)
        Recorder(outbox.drain(within: .zero), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.wifi)
        let unsealed = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(5))
        guard case .unreadable = fixture.store.entries.first?.delivery.deadReason else {
            Issue.record("not dead")
            return
        }
        #expect(fixture.ledger.numbers == [5])
        withExtendedLifetime(unsealed) {}
    }
}

extension Data {
    /// The members of a JSON object that are numbers, as JSON.
    fileprivate var filteredNumbers: Data {
        struct Old: Codable { var number: Int }
        guard let old = try? JSONDecoder().decode(Old.self, from: self),
            let data = try? JSONEncoder().encode(["number": old.number])
        else { return Data() }
        return data
    }
}
#endif
