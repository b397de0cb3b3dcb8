#if Outbox
import PlaygroundServer
import RxNetworking
import TestServers
import Testing

@testable import Playground

@Suite(.timeLimit(.minutes(2))) struct TunnelTests {
    /// The recipe of the tour, with processes that are killed.
    @Test func eachOrderIsExecutedOnce() async throws {
        let api = try await DemoAPI.start()
        let stage = Stage(
            baseURL: api.baseURL, standbyURL: api.baseURL, app: ShopApp(baseURL: api.baseURL),
            program: ChildProcess.product("Playground"))
        try await Recipe.orderInTunnel.run(stage)
        #expect(stage.broken == [])
        #expect(api.statistics.ordersPlaced == 3)
        #expect(api.statistics.ordersRepeated == 1)
        await api.stop()
    }
}
#endif
