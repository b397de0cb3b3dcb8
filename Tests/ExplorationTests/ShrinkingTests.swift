import FoundationEssentials
import RxNetworking
import RxTesting
import Synchronization
import Testing

@testable import RxSimulation

/// Explorations find planted bugs, and report the smallest failure.
@Suite struct ShrinkingTests {
    /// Sends every failed request again, also those that must not be.
    private struct RashRetry: Interceptor {
        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> {
            next(request).catch { _ in next(request) }
        }
    }

    private static let rashOrders: Simulation.Scenario = { simulation in
        simulation.server("https://shop.test") { _ in .json("{}") }
        simulation.process { process in
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.interceptors.attempt.append(RashRetry())
            let client = Client(configuration: configuration, transport: process.transport)
            let start = Int(process.scheduler.now / .milliseconds(1))
            for turn in 0..<10 {
                process.after(.seconds(turn)) {
                    process.subscribe(
                        "order", to: client.post("/orders", query: ["id": start + turn]),
                        describing: { _ in "" })
                }
            }
        }
        simulation.invariant("no order twice") { log in
            let orders = log.exchanges("POST /orders").filter { $0.receivedAt != nil }
            let queries = orders.compactMap { $0.request.url.query() }
            return Set(queries).count == queries.count ? [] : ["\(queries)"]
        }
    }

    private func failure(of scenario: @escaping Simulation.Scenario) async -> SimulationFailure? {
        do throws(SimulationFailure) {
            try await Simulation.explore(seeds: 1...1000, name: "rashOrders", scenario)
            return nil
        } catch {
            return error
        }
    }

    /// A planted bug is found, and of many faults one remains.
    @Test func aPlantedBugIsFound() async throws {
        let failure = try #require(await failure(of: Self.rashOrders))
        #expect(Set(failure.violations.map(\.name)) == ["no order twice"])
        #expect(failure.faults.count == 1)
        let fault = try #require(failure.faults.first)
        #expect(fault.place.hasPrefix("POST /orders #"))
        #expect(
            [.reset(.beforeHead), .reset(.inBody(percent: 0)), .truncation(percent: 0)].contains(fault.fault))

        #expect(failure.description.contains("@Test func rashOrdersWithSeed\(failure.seed)() throws {"))
        #expect(failure.description.contains("            \(fault),\n"))
        #expect(failure.description.contains("\nPOST /orders  "))
        #expect(failure.description.contains("\nx at "))

        // The printed list is the same run.
        do throws(SimulationFailure) {
            try Simulation(seed: failure.seed, faults: failure.faults).run(Self.rashOrders)
            Issue.record("the printed faults do not fail")
        } catch {
            #expect(error.log.events == failure.log.events)
        }
    }

    /// Several cores report the failure of the lowest seed.
    @Test func theLowestSeedIsReported() async {
        let seeds = [
            await failure(of: Self.rashOrders)?.seed, await failure(of: Self.rashOrders)?.seed,
            await failure(of: Self.rashOrders)?.seed,
        ]
        #expect(Set(seeds).count == 1)
        let lowest = (1...1000).first { seed in
            (try? Simulation(seed: seed).run(Self.rashOrders)) == nil
        }
        #expect(seeds[0] == lowest)
        #expect(lowest != nil)
    }

    @Test func onlyWhatIsNeededRemains() {
        let faults = (0..<100).map { PlacedFault.at("GET / #\($0)", .requestDelay(.milliseconds(1234))) }
        let needed = Set([3, 50, 97].map { "GET / #\($0)" })
        var runs = 0
        var shrinker = Shrinker { faults in
            runs += 1
            return needed.isSubset(of: faults.map(\.place))
        }
        let smallest = shrinker.shrunk(faults)
        #expect(smallest.map(\.place) == ["GET / #3", "GET / #50", "GET / #97"])
        #expect(Set(smallest.map(\.fault)) == [.requestDelay(.seconds(10))])
        #expect(runs < 200)
    }

    /// A scenario that depends on more than its seed is told so.
    @Test func otherSourcesAreFound() async throws {
        let count = Mutex(0)
        let failure = try #require(
            await failure { simulation in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                simulation.note("run", "\(number)")
                simulation.invariant("never") { _ in ["\(number)"] }
            })
        #expect(failure.violations.map(\.name) == ["never", "the same run"])
    }

    /// A diagram shows faults, requests and subscriptions in columns of time.
    @Test func diagrams() throws {
        let log = try Simulation(seed: 1, faults: [.at("GET /a #1", .status(503))]).run { simulation in
            simulation.server("https://shop.test") { _ in .json("1") }
            simulation.process { process in
                let configuration = ClientConfiguration(baseURL: "https://shop.test")
                let client = Client(configuration: configuration, transport: process.transport)
                let options = RequestOptions(retry: .exponentialBackoff(backoff: .constant(.milliseconds(4))))
                process.subscribe("a", to: client.get("/a", options: options).decode(Int.self))
            }
        }
        #expect(
            log.diagram == """
                faults  --x--------------
                app     ^----------------
                a       ^------------(A|)
                GET /a  ^--(5|)---^-s(2|)

                x at 0.002 seconds: GET /a #1 .status(503)
                A = 1
                """)
    }
}
