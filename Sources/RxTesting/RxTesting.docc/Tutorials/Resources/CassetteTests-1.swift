import RxNetworking
import RxTesting
import RxTestingSupport
import Testing

private struct CartContent: Decodable, Sendable, Equatable {
    let goods: [String]
}

@Suite struct CassetteTests {
    @Test(.cassette("cart")) func theCartIsShown() async throws {
        let cassette = try TestCassette.current
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"),
            transport: try cassette.transport(network: CurlTransport.shared))
        let carts = try await cassette.values(of: client.get("/cart").decode(CartContent.self))
        #expect(carts == [CartContent(goods: ["tea", "salt"])])
    }
}
