#if Outbox
// Works on the folder of an outbox, for tests that kill it, and for measurements.
//
//   outbox-probe fill FOLDER URL FIRST MODE MICROSECONDS
//       enqueues orders from number FIRST on, sends them to URL/orders, and kills itself (SIGKILL) after a time. Prints
//       `enqueued NUMBER` when an order is durable, `standby` while another process sends, and `sender` when it sends.
//       A time of 0: until it is killed from outside.
//   outbox-probe drain FOLDER URL MODE
//       sends all that is left, prints `left PENDING DEAD` and ends
//   outbox-probe full FOLDER FILLER
//       enqueues large orders until one fails, removes the file FILLER, enqueues until one succeeds; prints
//       `stored COUNT`, and `entries COUNT` at the end
//   outbox-probe count FOLDER COUNT MODE
//       enqueues COUNT orders at once and sends none, since there is no network; prints `seconds SECONDS`
//   outbox-probe deliver FOLDER CONCURRENCY MODE
//       sends all that is left to a server in another process, `outbox-probe serve`; prints `delivered COUNT SECONDS`
//   outbox-probe serve
//       answers all requests with 200 until its input ends; prints its URL
//
// MODE names the durability and the rules of keys: `machine` (Stripe's rules, PRAGMA synchronous = FULL), `process` (the
// same, NORMAL), `forgetful` (keys that live for 4 s, FULL).

import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxOutbox
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
    _ folder: String, _ url: String, _ mode: Mode = .machine, concurrency: Int = 4, isOnline: Bool = true
) throws -> Outbox {
    var client = ClientConfiguration(baseURL: url)
    client.options.retry = .never
    if !isOnline { client.reachability = NoNetwork() }
    var configuration = OutboxConfiguration()
    configuration.schedule = OutboxSchedule(first: .milliseconds(5), longest: .milliseconds(50))
    configuration.concurrency = concurrency
    return try Outbox(
        store: SQLiteOutboxStore(
            folder: folder, durability: mode.durability, pollInterval: .milliseconds(20)),
        client: Client(configuration: client), endpoints: [ProbeOrder.self], configuration: configuration)
}

/// Ends the process as `kill -9` does, after a time.
func die(after microseconds: UInt32) {
    guard microseconds > 0 else { return }
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t?
    #endif
    // The time travels as the bits of the argument, which is never dereferenced.
    let code = unsafe pthread_create(
        &thread, nil,
        { argument in
            usleep(UInt32(UInt(bitPattern: argument)))
            kill(getpid(), SIGKILL)
            return nil
        }, UnsafeMutableRawPointer(bitPattern: UInt(microseconds)))
    guard code == 0 else { exit(3) }
}

func fill(_ outbox: Outbox, from first: Int, _ mode: Mode) async throws {
    let roles = outbox.state.observable.map { $0.role }.distinctUntilChanged().subscribe(onNext: { role in
        switch role {
        case .sender: say("sender")
        case .standby: say("standby")
        case .opening, .closed: break
        }
    })
    for number in first... {
        let order = ProbeOrder(number: number, account: number % mode.accountCount)
        let line = OutboxOrder("account-\(order.account)", afterDeath: .release)
        _ = try await outbox.enqueue(order, key: .generated(mode.rules), order: line).value()
        say("enqueued \(number)")
        // No more than can be sent in the end.
        while outbox.state.value.counts.pending > 60 { try await Task.sleep(for: .milliseconds(1)) }
    }
    roles.cancel()
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
    say("seconds \((clock.now - start) / .seconds(1))")
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
    let outbox = try makeOutbox(folder, url, mode, concurrency: concurrency)
    let clock = ContinuousClock()
    let start = clock.now
    let first = try await outbox.entries().value().count
    let left = try await sendAll(outbox)
    say("delivered \(first - left) \((clock.now - start) / .seconds(1))")
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
    die(after: UInt32(argument(5)) ?? 0)
    let outbox = try makeOutbox(argument(1), argument(2), mode(4))
    try await fill(outbox, from: Int(argument(3)) ?? 0, mode(4))
case "drain":
    let outbox = try makeOutbox(argument(1), argument(2), mode(3), concurrency: 16)
    say("left 0 \(try await sendAll(outbox))")
case "full": try await full(argument(1), argument(2))
case "count": try await count(argument(1), Int(argument(2)) ?? 1, mode(3))
case "deliver": try await deliver(argument(1), Int(argument(2)) ?? 16, mode(3))
case "serve": try await serve()
default: exit(2)
}
#endif
