import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting
import Testing

/// Stores that a process keeps in its files.
@Suite struct KeptCookieTests {
    /// Cookies in a file of the process are sent after its restart, and expire by its clock.
    @Test func cookiesSurviveARestart() throws {
        let faults: [PlacedFault] = [
            .at("app", .restart(at: .seconds(10))),
            .at("clock", .clockJump(at: .seconds(20), by: .seconds(3600))),
        ]
        let log = try Simulation(seed: 1, faults: faults).run { simulation in
            simulation.server("https://a.test") { request in
                .status(.ok, headers: request.time < .seconds(5) ? [.setCookie: "sid=7; Max-Age=600"] : [:])
            }
            simulation.process { process in
                var configuration = ClientConfiguration(baseURL: "https://a.test")
                configuration.cookies = CookieJar(file: "/cookies", files: process.files)
                let client = Client(configuration: configuration, transport: process.transport)
                for time in [1, 5, 15, 25] where .seconds(time) > process.scheduler.now {
                    process.after(.seconds(time) - process.scheduler.now) {
                        process.subscribe("get", to: client.get("/"), describing: { "\($0.status.code)" })
                    }
                }
            }
        }
        let cookies = log.exchanges("GET /").map { $0.request.headerFields[.cookie] }
        #expect(cookies == [nil, "sid=7", "sid=7", nil])
    }
}
