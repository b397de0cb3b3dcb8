import PlaygroundServer
import RxNetworking
import TestServers
import Testing

@testable import Playground

/// The recipes of the tour that start processes.
@Suite(.timeLimit(.minutes(2))) struct ProcessRecipeTests {
    /// Runs recipes against a server of their own, and checks its counts.
    private func run(_ recipes: [Recipe], _ check: (DemoAPI) -> Void) async throws {
        let api = try await DemoAPI.start()
        let stage = Stage(
            baseURL: api.baseURL, standbyURL: api.baseURL, app: ShopApp(baseURL: api.baseURL),
            program: ChildProcess.product("Playground"))
        for recipe in recipes { try await recipe.run(stage) }
        #expect(stage.broken == [])
        check(api)
        await api.stop()
    }

    #if Outbox
    /// Orders from a tunnel, by processes that are killed.
    @Test func eachOrderIsExecutedOnce() async throws {
        try await run([.orderInTunnel]) { api in
            #expect(api.statistics.ordersPlaced == 3)
            #expect(api.statistics.ordersRepeated == 1)
        }
    }
    #endif

    #if Fleet
    /// One login for two processes.
    @Test func oneLoginForTwoPrograms() async throws {
        try await run([.loginOfTwoPrograms]) { api in #expect(api.statistics.logins == 2) }
    }
    #endif
}
