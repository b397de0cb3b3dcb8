#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxParameters
import RxTesting
import Synchronization

/// An order, and what the server answers.
struct PlaceOrder: OutboxEndpoint {
    static let outboxName = "order.place"
    var number: Int
    var files: [String] = []

    typealias Output = Receipt
    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["number": number] }
    var attachments: [String] { files }
}

struct Receipt: Codable, Sendable, Equatable {
    var number: Int
}

/// An outbox in virtual time, and the server that it sends to.
final class OutboxFixture: Sendable {
    let clock = VirtualScheduler(stepLimit: 1_000_000)
    let store: MemoryOutboxStore
    let ledger: KeyLedger
    let transport: ScriptedTransport
    let reachability = ScriptedReachability(.wifi)
    let client: Client

    /// - Parameters:
    ///   - replies: the replies to the first requests, instead of the server's.
    ///   - executing: whether the server executes those requests nevertheless.
    init(
        store: MemoryOutboxStore = MemoryOutboxStore(), ledger: KeyLedger = KeyLedger(),
        session: Session? = nil, _ replies: [ScriptedTransport.Reply] = [],
        executing: Bool = false
    ) {
        self.store = store
        self.ledger = ledger
        let box = ScriptBox(replies)
        let clock = clock
        transport = ScriptedTransport(on: clock) { request in
            let replacement = box.next()
            if let replacement, !executing { return replacement }
            let reply = Self.reply(of: ledger, to: request, at: clock.now)
            return replacement ?? reply
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.reachability = reachability
        configuration.session = session
        client = Client(configuration: configuration, transport: transport)
    }

    private static func reply(
        of ledger: KeyLedger, to request: Request, at time: Duration
    ) -> ScriptedTransport.Reply {
        guard case .bytes(let body) = request.body else { return .status(.badRequest) }
        let key = request.headerFields[.idempotencyKey]
        switch ledger.receive(key: key, body: body, at: time) {
        case .done(let number): return .json("{\"number\":\(number)}", after: .milliseconds(20))
        case .inProgress: return .status(.conflict)
        case .otherBody, .missingKey: return .status(.badRequest)
        case .serverError: return .status(.internalServerError)
        }
    }

    func outbox(
        _ endpoints: [any OutboxEndpoint.Type] = [PlaceOrder.self],
        _ change: (inout OutboxConfiguration) -> Void = { _ in }
    ) throws -> Outbox {
        var configuration = OutboxConfiguration()
        configuration.schedule.jitter = 0
        change(&configuration)
        return try Outbox(store: store, client: client, endpoints: endpoints, configuration: configuration)
    }

    /// Enqueues an order; its ticket, once the entry is durable.
    func enqueue(
        _ outbox: Outbox, _ number: Int, key: OutboxKey = .generated(.stripe), order: OutboxOrder? = nil,
        replacing topic: String? = nil, lifetime: Duration? = nil
    ) throws -> OutboxTicket<PlaceOrder> {
        let recorder = Recorder(
            outbox.enqueue(
                PlaceOrder(number: number), key: key, order: order, replacing: topic, lifetime: lifetime),
            on: clock)
        if let failure = recorder.failure { throw failure }
        guard let ticket = recorder.values.first else { throw NetworkError(.noValue, "not durable yet") }
        return ticket
    }

    /// The numbers of the requests so far, in their order.
    var sent: [Int] {
        transport.requests.compactMap { request in
            guard case .bytes(let body) = request.body else { return nil }
            return try? JSONDecoder().decode(Receipt.self, from: Data(body)).number
        }
    }

    /// The idempotency keys of the requests so far.
    var keys: [String?] { transport.requests.map { $0.headerFields[.idempotencyKey] } }
}

/// Replies that are used up.
final class ScriptBox: Sendable {
    private let replies: Mutex<[ScriptedTransport.Reply]>

    init(_ replies: [ScriptedTransport.Reply]) { self.replies = Mutex(replies) }

    func next() -> ScriptedTransport.Reply? {
        replies.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// The progress as a short text.
func text<Output>(_ progress: OutboxProgress<Output>) -> String {
    switch progress {
    case .queued: "queued"
    case .sending(let attempt): "sending \(attempt)"
    case .waiting(_, let reason): "waiting: \(reason)"
    case .delivered(let output): "delivered \(output)"
    case .dead(let reason): "dead: \(reason)"
    case .replaced: "replaced"
    case .gone: "gone"
    }
}
#endif
