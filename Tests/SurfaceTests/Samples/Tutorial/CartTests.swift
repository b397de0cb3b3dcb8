import RxNetworking
import RxTesting
import Testing

private struct CartContent: Decodable, Sendable, Equatable {
    let goods: [String]
}

@Suite struct CartTests {
    @Test func theCartIsEmptyAtFirst() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock, [.when(.get, "/cart", .json(#"{"goods": []}"#))])
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)

        let cart = Recorder(client.get("/cart").decode(CartContent.self), on: clock)
        try clock.run()

        #expect(cart.values == [CartContent(goods: [])])
        #expect(transport.requests.map(\.method) == [.get])
    }
}
