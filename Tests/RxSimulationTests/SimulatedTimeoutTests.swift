import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import RxWebSocket
import Testing

/// The time limits of requests to simulated servers, in virtual time.
@Suite struct SimulatedTimeoutTests {
    private static let silent = ScriptedTransport.Reply.steps(
        .wait(.seconds(3)), .head(ResponseHead(status: .ok)), .wait(.seconds(15)), .chunk([65]), .stall)
    private static let slow = ScriptedTransport.Reply.steps(
        .head(ResponseHead(status: .ok)), .wait(.seconds(15)), .chunk([65]), .wait(.seconds(15)),
        .chunk([65]),
        .wait(.seconds(15)), .finish)

    /// Silence of the server ends a request by its limits, and no other.
    @Test(
        arguments: [
            (.stall, Timeouts(), .failed(.firstByteTimeout), 60),
            (silent, Timeouts(), .failed(.idleTimeout), 38),
            (silent, Timeouts(idle: .seconds(10)), .failed(.idleTimeout), 13),
            (silent, Timeouts(firstByte: .seconds(2)), .failed(.firstByteTimeout), 2),
            (silent, Timeouts(attempt: .seconds(5)), .failed(.attemptTimeout), 5),
            (slow, Timeouts(), .finished, 45),
            (slow, .unlimited, .finished, 45),
            (
                .steps(
                    .wait(.seconds(50)), .interim(ResponseHead(status: .init(code: 102))),
                    .wait(.seconds(50)),
                    .head(ResponseHead(status: .ok)), .finish), Timeouts(), .finished, 100
            ),
        ] as [(ScriptedTransport.Reply, Timeouts, ScriptedTransport.Exchange.Outcome, Int64)])
    func limits(
        reply: ScriptedTransport.Reply, timeouts: Timeouts, outcome: ScriptedTransport.Exchange.Outcome,
        seconds: Int64
    ) throws {
        let log = try Simulation(seed: 1, faults: []).run { simulation in
            simulation.server("https://a.test") { _ in reply }
            simulation.process { process in
                var configuration = ClientConfiguration(baseURL: "https://a.test")
                configuration.options.timeouts = timeouts
                configuration.options.retry = .never
                let client = Client(configuration: configuration, transport: process.transport)
                process.subscribe("get", to: client.get("/"), describing: { "\($0.status.code)" })
            }
        }
        let exchange = try #require(log.exchanges.first)
        #expect(exchange.outcome == outcome)
        // The messages take a few milliseconds.
        #expect(try #require(exchange.endedAt).components.seconds == seconds)
    }

    /// A connection that became a WebSocket may be silent.
    @Test func webSockets() throws {
        let log = try Simulation(seed: 1, faults: []).run { simulation in
            simulation.server("https://a.test") { _ in
                .webSocket(.wait(.seconds(200)), .send(.text("late")), .close(.normalClosure))
            }
            simulation.process { process in
                var configuration = ClientConfiguration(baseURL: "https://a.test")
                configuration.options.timeouts = Timeouts(
                    firstByte: .seconds(5), idle: .seconds(5), attempt: .seconds(5))
                let client = Client(configuration: configuration, transport: process.transport)
                process.subscribe("lines", to: client.webSocket("/").texts())
            }
        }
        #expect(log.subscriptions("lines").first?.values == ["late"])
    }
}
