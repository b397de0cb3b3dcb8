import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A client with an http base URL whose host requires TLS (RFC 6797).
@Suite struct CacheUpgradeTests {
    private struct Upgrading: Transport {
        let transport: ScriptedTransport
        let hsts: HSTSStore?
        var scheduler: any Scheduler { transport.scheduler }
        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { transport.send(request) }
    }

    private let fixture = CacheFixture()

    private func client(_ rules: ScriptedTransport.Rule...) throws -> (Client, ScriptedTransport) {
        let store = HSTSStore()
        let fields: HTTPFields = [.strictTransportSecurity: "max-age=1000000000"]
        store.learn(
            from: ResponseHead(status: .ok, headerFields: fields),
            of: try #require(URL(string: "https://shop.test/")), at: fixture.clock.date)
        let (plain, transport) = fixture.client()
        let scripted = ScriptedTransport(on: fixture.clock, rules)
        _ = transport
        return (
            Client(
                configuration: plain.configuration, transport: Upgrading(transport: scripted, hsts: store)),
            scripted
        )
    }

    @Test func responsesAreCached() throws {
        let (client, transport) = try client(.when(.get, "/goods", .json("[1]")))
        for _ in 0..<2 {
            #expect(try fixture.run(CacheFixture.Goods(), client).values.map(\.output) == [[1]])
        }
        #expect(transport.requests.map(\.url.absoluteString) == ["https://shop.test/goods"])
    }

    /// For each URL of the change, and each URL that the response names.
    @Test(arguments: ["http://shop.test/goods", "https://shop.test/goods", "http://shop.test/order"])
    func changesRemoveThem(url: String) throws {
        let named: HTTPFields = [.contentLocation: "/goods"]
        let (client, transport) = try client(
            .when(.get, "/goods", .json("[1]"), .json("[2]")), .when(.post, "/goods", .status(.noContent)),
            .when(.post, "/order", .status(.noContent, headers: named)))
        try fixture.run(CacheFixture.Goods(), client)
        let request = Request(method: .post, url: try #require(URL(string: url)))
        client.exchange(request).subscribe()
        try fixture.clock.run()
        #expect(try fixture.run(CacheFixture.Goods(), client).values.map(\.output) == [[2]])
        #expect(transport.requests.map(\.url.scheme) == ["https", "https", "https"])
    }
}
