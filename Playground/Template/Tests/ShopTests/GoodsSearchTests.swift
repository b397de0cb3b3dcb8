import RxNetworking
import RxTesting
import Shop
import Testing

@Suite struct GoodsSearchTests {
    @Test func aBrokenConnectionIsRetried() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/goods", .failure(.connectionLost), .json(#"[{"id":7,"name":"tea"}]"#))
            ])
        let client = Client(configuration: .shop(at: "https://test"), transport: transport)

        let recorder = Recorder(client.request(GoodsSearch(keyword: "tea")), on: clock)
        try clock.run()

        #expect(recorder.values == [[Goods(id: 7, name: "tea")]])
        #expect(transport.requests.map(\.url.query) == ["keyword=tea", "keyword=tea"])
    }
}
