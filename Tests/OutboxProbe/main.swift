#if Outbox
// Works on the folder of an outbox, for tests that kill it.
//
//   outbox-probe fill FOLDER URL FIRST   enqueues orders from number FIRST on until it is killed, and sends them to
//                                        URL/orders; prints `enqueued NUMBER` when an order is durable
//   outbox-probe drain FOLDER URL        sends all that is left, prints `left PENDING DEAD` and ends
//   outbox-probe full FOLDER FILLER      enqueues large orders until one fails, removes the file FILLER, enqueues until
//                                        one succeeds; prints `stored COUNT`, and `entries COUNT` at the end
//   outbox-probe count FOLDER COUNT      enqueues COUNT orders at once and sends none; prints `seconds SECONDS`

import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxOutbox

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An order of one of a few accounts.
struct ProbeOrder: OutboxEndpoint {
    static let outboxName = "probe.order"
    typealias Output = Response
    /// The number of accounts, each of which keeps its order.
    static let accountCount = 3

    var number: Int
    var note = ""

    var account: Int { number % Self.accountCount }
    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["number": number, "account": account] }
}

/// Not with print, which buffers lines.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

func makeOutbox(_ folder: String, _ url: String) throws -> Outbox {
    let client = Client(baseURL: url)
    var configuration = OutboxConfiguration()
    configuration.schedule = OutboxSchedule(first: .milliseconds(5), longest: .milliseconds(50))
    configuration.concurrency = 4
    return try Outbox(
        store: SQLiteOutboxStore(folder: folder, pollInterval: .milliseconds(20)), client: client,
        endpoints: [ProbeOrder.self], configuration: configuration)
}

func fill(_ outbox: Outbox, from first: Int) async throws {
    for number in first... {
        let order = ProbeOrder(number: number)
        _ = try await outbox.enqueue(order, key: .generated(.stripe), order: "account-\(order.account)")
            .value()
        say("enqueued \(number)")
    }
}

func drain(_ outbox: Outbox) async throws {
    for await state in outbox.state.observable.values(buffering: .unbounded)
    where state.role == .sender && state.counts.pending == 0 {
        say("left \(state.counts.pending) \(state.counts.dead)")
        return
    }
}

func full(_ folder: String, _ filler: String) async throws {
    let outbox = try makeOutbox(folder, "http://127.0.0.1:9")
    var stored = 0
    func add() async -> Bool {
        let order = ProbeOrder(number: stored, note: String(repeating: "x", count: 20_000))
        let ticket = outbox.enqueue(order, key: .generated(.stripe), order: "one")
        guard (try? await ticket.value()) != nil else { return false }
        stored += 1
        return true
    }
    while await add() {}
    say("stored \(stored)")
    try FileManager.default.removeItem(atPath: filler)
    while await !add() {}
    say("entries \(try await outbox.entries().value().count - stored)")
}

func count(_ folder: String, _ count: Int) async throws {
    // No server listens there, and nothing is sent while the entries of one account wait for the first.
    let outbox = try makeOutbox(folder, "http://127.0.0.1:9")
    let clock = ContinuousClock()
    let start = clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                _ = try await outbox.enqueue(
                    ProbeOrder(number: number), key: .generated(.stripe), order: "one"
                ).value()
            }
        }
        try await group.waitForAll()
    }
    say("seconds \((clock.now - start) / .seconds(1))")
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { exit(2) }
switch arguments[0] {
case "fill": try await fill(try makeOutbox(arguments[1], arguments[2]), from: Int(arguments[3]) ?? 0)
case "drain": try await drain(try makeOutbox(arguments[1], arguments[2]))
case "full": try await full(arguments[1], arguments[2])
case "count": try await count(arguments[1], Int(arguments[2]) ?? 1)
default: exit(2)
}
#endif
