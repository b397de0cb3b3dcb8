#if Fleet
import PlaygroundServer
import RxNetworking
import TestServers
import Testing

@testable import Playground

@Suite(.timeLimit(.minutes(2))) struct FleetTourTests {
    /// The recipe of the tour, with two processes.
    @Test func oneLoginForTwoPrograms() async throws {
        let api = try await DemoAPI.start()
        let stage = Stage(
            baseURL: api.baseURL, standbyURL: api.baseURL, app: ShopApp(baseURL: api.baseURL),
            program: ChildProcess.product("Playground"))
        try await Recipe.loginOfTwoPrograms.run(stage)
        #expect(stage.broken == [])
        #expect(api.statistics.logins == 2)
        await api.stop()
    }
}
#endif
