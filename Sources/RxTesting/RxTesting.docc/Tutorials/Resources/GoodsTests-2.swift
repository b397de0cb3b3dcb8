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
                .when(.post, "/cart", body: .json(#"{"id": 7}"#), .status(.created)),
                .when(.get, "/cart", if: { $0.headerFields[.accept] == "a/b" }, .status(.notAcceptable)),
            ])
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)

        let page = Recorder(client.get("/goods", query: ["page": 2]).decode([String].self), on: clock)
        let goods = Recorder(client.get("/goods/7").decode(String.self), on: clock)
        let cart = Recorder(client.post("/cart", .json(["id": 7])), on: clock)
        let other = Recorder(client.get("/cart", headers: ["Accept": "a/b"]), on: clock)
        try clock.run()

        #expect(page.values == [["salt"]])
        #expect(goods.values == ["tea"])
        #expect(cart.values.map(\.status) == [.created])
        #expect(!other.isFinished)
    }
}
