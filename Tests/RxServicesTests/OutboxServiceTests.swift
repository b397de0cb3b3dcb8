#if ServiceLifecycle && Outbox
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxServices
import RxTesting
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// An outbox as a service.
@Suite(.timeLimit(.minutes(1))) struct OutboxServiceTests {
    private struct Order: OutboxEndpoint {
        static let outboxName = "order"
        typealias Output = Response
        var path: String { "/orders" }
        var method: HTTPRequest.Method { .post }
    }

    private let clock = VirtualScheduler()
    private let store = MemoryOutboxStore()

    private func outbox(_ reply: ScriptedTransport.Reply) throws -> Outbox {
        let transport = ScriptedTransport(on: clock) { _ in reply }
        let client = Client(baseURL: "https://shop.test", transport: transport)
        return try Outbox(store: store, client: client, endpoints: [Order.self])
    }

    /// A graceful shutdown sends what is due, and refuses new entries.
    @Test func shutdown() async throws {
        let outbox = try outbox(.json("{}", after: .seconds(3)))
        outbox.enqueue(Order(), key: .generated(.stripe)).subscribe()
        try await testGracefulShutdown { trigger in
            let service = Task { try await outbox.run() }
            trigger.triggerGracefulShutdown()
            while outbox.state.value.role != .closed {
                await Task.yield()
                try clock.advance(by: .zero)
            }
            let late = Recorder(outbox.enqueue(Order(), key: .generated(.stripe)), on: clock)
            #expect(late.failure?.code == .shutDown)
            #expect(store.entries.count == 1)
            try clock.advance(by: .seconds(3))
            try await clock.advance(untilTheEndOf: service)
            #expect(store.entries.isEmpty)
        }
    }

    /// The limit ends the service, and leaves the entry to the next run.
    @Test func limit() async throws {
        let outbox = try outbox(.stall)
        outbox.enqueue(Order(), key: .generated(.stripe)).subscribe()
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            let service = Task { try await outbox.run(drainingWithin: .seconds(2)) }
            while outbox.state.value.role != .closed {
                await Task.yield()
                try clock.advance(by: .zero)
            }
            try clock.advance(by: .seconds(2))
            try await clock.advance(untilTheEndOf: service)
            #expect(store.entries.map(\.delivery.phase) == [.sending])
        }
    }

    /// A cancelled service stops at once.
    @Test func cancelled() async throws {
        let outbox = try outbox(.stall)
        outbox.enqueue(Order(), key: .generated(.stripe)).subscribe()
        let service = Task { try await outbox.run() }
        service.cancel()
        while outbox.state.value.role != .closed {
            await Task.yield()
            try clock.advance(by: .zero)
        }
        try await clock.advance(untilTheEndOf: service)
        #expect(store.entries.count == 1)
    }
}
#endif
