import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxTesting
import Scenarios
import Synchronization
import TestServers
import Testing

@testable import RxSimulation

/// The simulation itself: its faults, and that a seed repeats.
@Suite struct SimulationTests {
    /// A process that sends three requests, one a second.
    private static let requests: Simulation.Scenario = { simulation in
        simulation.server("https://shop.test") { _ in .json(#"{"name": "0123456789"}"#) }
        simulation.process { process in
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            let client = Client(configuration: configuration, transport: process.transport)
            let start = Int(process.scheduler.now / .seconds(1))
            for turn in start..<3 {
                process.after(.seconds(turn) - process.scheduler.now) {
                    process.subscribe(
                        "call", to: client.put("/a", .text("body")), describing: { "\($0.status.code)" })
                }
            }
        }
    }

    private func run(_ faults: [PlacedFault]) throws -> SimulationLog {
        try Simulation(seed: 1, faults: faults).run(Self.requests)
    }

    /// The metrics of an exchange include its way to the server and back.
    @Test func metricsIncludeTheWay() throws {
        let faults: [PlacedFault] = [
            .at("GET /a #1", .requestDelay(.seconds(5))), .at("GET /a #1", .responseDelay(.seconds(2))),
        ]
        let log = try Simulation(seed: 1, faults: faults).run { simulation in
            simulation.server("https://shop.test") { _ in .json("1", after: .seconds(1)) }
            simulation.process { process in
                let configuration = ClientConfiguration(baseURL: "https://shop.test")
                let client = Client(configuration: configuration, transport: process.transport)
                process.subscribe("call", to: client.get("/a"), describing: { "\($0.metrics.total)" })
            }
        }
        let exchange = try #require(log.exchanges.first)
        let end = try #require(exchange.endedAt)
        #expect(end > .seconds(8))
        #expect(log.subscriptions("call").map(\.values) == [["\(end - exchange.sentAt)"]])
    }

    /// Each fault strikes where it says, and nowhere else.
    @Test(
        arguments: [
            (.at("PUT /a #2", .reset(.beforeSending)), .failed("connect"), false),
            (.at("PUT /a #2", .reset(.duringUpload)), .failed("connectionLost"), false),
            (.at("PUT /a #2", .reset(.beforeHead)), .failed("connectionLost"), true),
            (.at("PUT /a #2", .reset(.inBody(percent: 50))), .failed("connectionLost"), true),
            (.at("PUT /a #2", .truncation(percent: 50)), .failed("partialBody"), true),
            (.at("PUT /a #2", .status(503, retryAfter: 1)), .failed("status"), false),
            (.at("PUT /a #2", .requestDelay(.seconds(5))), .finished, true),
            (.at("PUT /a #2", .responseDelay(.seconds(5))), .finished, true),
            (.at("call #2", .cancel(after: .zero)), .cancelled, false),
            (.at("call #2", .slowReader(.seconds(5))), .finished, true),
            (
                .at("https://shop.test", .outage(at: .milliseconds(900), for: .milliseconds(500))),
                .failed("connect"), false
            ),
            (
                .at("https://shop.test", .outage(at: .milliseconds(1002), for: .milliseconds(1))),
                .failed("connectionLost"), false
            ),
            (.at("app", .restart(at: .milliseconds(1002))), .killed, false),
            (.at("clock", .clockJump(at: .zero, by: .seconds(86400))), .finished, true),
        ] as [(PlacedFault, SimulationEvent.Kind, Bool)])
    func faultsStrike(_ placed: PlacedFault, _ end: SimulationEvent.Kind, isReceived: Bool) throws {
        let log = try run([placed])
        #expect(log.subscriptions.prefix(3).map(\.end) == [.finished, end, .finished])
        #expect((log.exchanges("PUT /a").dropFirst().first?.receivedAt != nil) == isReceived)
        #expect(log.events.contains { $0.kind == .fault(placed.fault) })
    }

    @Test func faultsElsewhereHaveNoEffect() throws {
        let quiet = try run([])
        let log = try run([.at("PUT /a #9", .reset(.beforeHead)), .at("POST /a #1", .status(503))])
        #expect(log.events == quiet.events)
        #expect(quiet.subscriptions.map(\.end) == [.finished, .finished, .finished])
    }

    @Test func requestsOvertakeEachOther() throws {
        let log = try run([.at("PUT /a #1", .requestDelay(.milliseconds(1500)))])
        #expect(
            log.exchanges("PUT /a").compactMap(\.receivedAt) == [
                .milliseconds(1502), .milliseconds(1002), .milliseconds(2002),
            ])
    }

    @Test func theWallClockJumps() throws {
        let dates = Mutex<[Duration]>([])
        try Simulation(seed: 1, faults: [.at("clock", .clockJump(at: .seconds(1), by: .seconds(3600)))]).run {
            simulation in
            simulation.process { process in
                let start = process.scheduler.currentDate
                process.after(.seconds(2)) {
                    dates.withLock { dates in
                        dates = [
                            .seconds(process.scheduler.currentDate.timeIntervalSince(start)),
                            process.scheduler.now,
                        ]
                    }
                }
            }
        }
        #expect(dates.withLock { $0 } == [.seconds(3602), .seconds(2)])
    }

    /// After a kill nothing of the process continues, and files stay.
    @Test func restartsKeepFiles() throws {
        let log = try Simulation(seed: 1, faults: [.at("app", .restart(at: .seconds(1)))]).run { simulation in
            simulation.process { process in
                process.subscribe(
                    "before", to: process.files.contents(of: "/note", limit: 100),
                    describing: { text in
                        text.map { String(decoding: $0, as: UTF8.self) } ?? "none"
                    })
                process.subscribe(
                    "write", to: process.files.replace("/note", with: Array("kept".utf8)),
                    describing: { _ in "" })
                process.after(.milliseconds(1500)) { simulation.note("later", "\(process.scheduler.now)") }
                process.subscribe("lock", to: process.files.lock("/map"), describing: { _ in "locked" })
            }
        }
        #expect(log.subscriptions("before").map(\.values) == [["none"], ["kept"]])
        #expect(log.subscriptions("lock").map(\.values) == [["locked"], ["locked"]])
        #expect(log.notes("later") == ["2.5 seconds"])
    }

    /// Keys, boundaries, ids and waits are those of the seed.
    @Test func randomNumbersFollowTheSeed() throws {
        func fields(seed: UInt64) throws -> [String] {
            let faults: [PlacedFault] = [.at("POST /a #1", .status(503))]
            let log = try Simulation(seed: seed, faults: faults).run { simulation in
                simulation.server("https://shop.test") { _ in .json("{}") }
                simulation.process { process in
                    var configuration = ClientConfiguration(baseURL: "https://shop.test")
                    configuration.options.interceptors.call.append(.idempotencyKeys())
                    let client = Client(configuration: configuration, transport: process.transport)
                    let form = Parameters.multipart([.text("a", "b")])
                    process.subscribe("call", to: client.post("/a", form), describing: { "\($0.request.id)" })
                }
            }
            return log.exchanges.flatMap { exchange in
                [
                    "\(exchange.sentAt)", exchange.request.headerFields[.idempotencyKey] ?? "",
                    exchange.request.headerFields[.contentType] ?? "",
                ]
            } + log.subscriptions.flatMap(\.values)
        }
        let first = try fields(seed: 1)
        #expect(first.count == 7)
        #expect(try fields(seed: 1) == first)
        let other = try fields(seed: 2)
        #expect(zip(first, other).count { $0 != $1 } == 5)
    }

    /// Another process comes to the same events.
    @Test func theSameRunInAnotherProcess() async throws {
        let arguments = ["--fingerprint", "10"]
        let one = try await ChildProcess(ChildProcess.product("explore"), arguments).ended()
        let other = try await ChildProcess(ChildProcess.product("explore"), arguments).ended()
        #expect(one.ending == .exited(0))
        #expect(one.text.split(separator: "\n").count == House.scenarios.count)
        #expect(one.text == other.text)
    }
}
