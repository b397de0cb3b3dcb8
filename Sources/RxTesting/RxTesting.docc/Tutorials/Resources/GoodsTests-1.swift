import RxNetworking
import RxTesting
import RxTestingSupport
import Testing

@Suite(.usesEveryRule) struct GoodsTests {
    @Test func rulesSelectRequests() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/goods", query: ["page": "2"], .json(#"["salt"]"#)),
                .when(.get, "/goods/{id}", .json(#""tea""#)),
            ])
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)

        let page = Recorder(client.get("/goods", query: ["page": 2]).decode([String].self), on: clock)
        let goods = Recorder(client.get("/goods/7").decode(String.self), on: clock)
        try clock.run()

        #expect(page.values == [["salt"]])
        #expect(goods.values == ["tea"])
    }
}
