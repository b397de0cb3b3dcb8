#if Outbox
// Works on the folder of an outbox, for tests that kill it, and for measurements.
//
//   outbox-probe fill FOLDER URL FIRST MODE PLACE TURN MICROSECONDS [sender]
//       enqueues orders from number FIRST on, sends them to URL/orders, and kills itself (SIGKILL) so long after it has
//       reached a place of `KillPlan` for the TURN-th time, with `sender` not before it sends. Prints `enqueued NUMBER` when
//       an order is durable, and the lines of `KillPlan` and `SequenceLog`.
//   outbox-probe drain FOLDER URL MODE
//       sends all that is left, prints the lines of `SequenceLog` and `left PENDING DEAD`, and ends
//   outbox-probe full FOLDER FILLER
//       enqueues large orders until one fails, removes the file FILLER, enqueues until one succeeds; prints
//       `stored COUNT`, and `entries COUNT` at the end
//   outbox-probe count FOLDER COUNT MODE
//       enqueues COUNT orders at once and sends none, since there is no network; prints `enqueued COUNT SECONDS CPU`, the
//       latter the processor time of the process in seconds
//   outbox-probe deliver FOLDER CONCURRENCY MODE
//       sends all that is left to a server in another process, `outbox-probe serve`; prints
//       `delivered COUNT SECONDS CPU DEAD`, without the time of that process
//   outbox-probe serve
//       answers all requests with 200 until its input ends; prints its URL
//
// MODE names the durability and the rules of keys: `machine` (Stripe's rules, PRAGMA synchronous = FULL), `process` (the
// same, NORMAL), `forgetful` (keys that live for 4 s, FULL).

import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxOutbox
import Synchronization
import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An order of one of a few accounts.
struct ProbeOrder: OutboxEndpoint {
    static let outboxName = "probe.order"
    typealias Output = Response

    var number: Int
    var account = 0
    var note = ""

    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["number": number, "account": account] }
}

/// Says that there is no network.
struct NoNetwork: Reachability {
    private let constant = MutableProperty(NetworkStatus.unreachable)
    var status: NetworkStatus { constant.value }
    var statuses: Observable<NetworkStatus, Never> { constant.observable }
    func start() {}
    func stop() {}
}

/// The durability of the store, and the rules of the server's keys.
enum Mode: String {
    case machine, process, forgetful

    var durability: SQLiteOutboxStore.Durability { self == .process ? .process : .machine }

    /// The number of accounts, each of which keeps its order. Where entries wait for the end of their keys, there are more.
    var accountCount: Int { self == .forgetful ? 40 : 4 }

    var rules: KeyRules {
        guard self == .forgetful else { return .stripe }
        var rules = KeyRules.stripe
        rules.lifetime = .seconds(4)
        rules.margin = .seconds(2)
        return rules
    }
}

/// Not with print, which buffers lines.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

func makeOutbox(
    _ folder: String, _ url: String, _ mode: Mode = .machine, concurrency: Int = 4, isOnline: Bool = true,
    isWatched: Bool = false, _ plan: KillPlan? = nil
) throws -> Outbox {
    var client = ClientConfiguration(baseURL: url)
    client.options.retry = .never
    if !isOnline { client.reachability = NoNetwork() }
    var configuration = OutboxConfiguration()
    configuration.schedule = OutboxSchedule(first: .milliseconds(5), longest: .milliseconds(50))
    configuration.concurrency = concurrency
    let store = SQLiteOutboxStore(
        folder: folder, durability: mode.durability, pollInterval: .milliseconds(20))
    let watched: any OutboxStore = isWatched ? WatchedStore(base: store, plan: plan) : store
    return try Outbox(
        store: watched,
        client: Client(configuration: client), endpoints: [ProbeOrder.self], configuration: configuration)
}

/// Enqueues orders until the process is killed: for several accounts at once, so that they share transactions.
func fill(_ outbox: Outbox, from first: Int, _ mode: Mode) async throws {
    let writerCount = 4
    try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writerCount {
            group.addTask {
                for turn in 0... {
                    // The numbers of an account grow.
                    let number = first + turn * writerCount + writer
                    let order = ProbeOrder(number: number, account: number % mode.accountCount)
                    let line = OutboxOrder("account-\(order.account)", afterDeath: .release)
                    _ = try await outbox.enqueue(order, key: .generated(mode.rules), order: line).value()
                    say("enqueued \(number)")
                    // No more than can be sent in the end.
                    while outbox.state.value.counts.pending > 60 {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
        }
        try await group.waitForAll()
    }
}

/// Waits until nothing is left but dead letters; their number.
func sendAll(_ outbox: Outbox) async throws -> Int {
    for await state in outbox.state.observable.values(buffering: .latest(1))
    where state.role == .sender && state.counts.pending == 0 {
        return state.counts.dead
    }
    throw NetworkError(.noValue, "the outbox ended")
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

/// The processor time of all threads of the process so far, in seconds.
func processorTime() -> Double {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { exit(5) }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func count(_ folder: String, _ count: Int, _ mode: Mode) async throws {
    let outbox = try makeOutbox(folder, "http://127.0.0.1:9", mode, isOnline: false)
    let clock = ContinuousClock()
    let start = clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                _ = try await outbox.enqueue(ProbeOrder(number: number), key: .generated(mode.rules)).value()
            }
        }
        try await group.waitForAll()
    }
    say("enqueued \(count) \((clock.now - start) / .seconds(1)) \(processorTime())")
}

func serve() async throws {
    let response = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)
    let server = try RawServer { _ in [.send(response)] }
    say(server.baseURL)
    while readLine() != nil {}
    server.stop()
}

func deliver(_ folder: String, _ concurrency: Int, _ mode: Mode) async throws {
    let server = try ChildProcess(CommandLine.arguments[0], ["serve"])
    guard let url = try await server.nextLine() else { exit(4) }
    let delivered = DeliveryCount()
    let clock = ContinuousClock()
    // The time includes opening and checking the store.
    let start = clock.now
    let outbox = try makeOutbox(folder, url, mode, concurrency: concurrency)
    let events = outbox.events.subscribe(onNext: { event in
        if case .delivered = event { delivered.number.withLock { $0 += 1 } }
    })
    let dead = try await sendAll(outbox)
    let seconds = (clock.now - start) / .seconds(1)
    say("delivered \(delivered.number.withLock { $0 }) \(seconds) \(processorTime()) \(dead)")
    events.cancel()
}

/// The number of entries that have been delivered.
final class DeliveryCount: Sendable {
    let number = Mutex(0)
}

let arguments = Array(CommandLine.arguments.dropFirst())
/// The argument at a place; ends the process without it.
func argument(_ index: Int) -> String {
    guard arguments.indices.contains(index) else { exit(2) }
    return arguments[index]
}
func mode(_ index: Int) -> Mode {
    guard let mode = Mode(rawValue: argument(index)) else { exit(2) }
    return mode
}
switch argument(0) {
case "fill":
    guard let place = KillPlan.Place(rawValue: argument(5)), let turn = Int(argument(6)),
        let delay = UInt32(argument(7))
    else { exit(2) }
    // A program that does not get to its place hangs, and ends with another signal.
    alarm(120)
    let plan = KillPlan(
        place, turn: turn, asSender: arguments.indices.contains(8) && arguments[8] == "sender", delay: delay)
    plan.enter(.start)
    let outbox = try makeOutbox(argument(1), argument(2), mode(4), isWatched: true, plan)
    try await fill(outbox, from: Int(argument(3)) ?? 0, mode(4))
case "drain":
    let outbox = try makeOutbox(argument(1), argument(2), mode(3), concurrency: 16, isWatched: true)
    say("left 0 \(try await sendAll(outbox))")
case "full": try await full(argument(1), argument(2))
case "count": try await count(argument(1), Int(argument(2)) ?? 1, mode(3))
case "deliver": try await deliver(argument(1), Int(argument(2)) ?? 16, mode(3))
case "serve": try await serve()
default: exit(2)
}
#endif
