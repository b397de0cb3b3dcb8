import RxNetworking
import RxTesting
import RxTestingSupport
import Testing

@Suite(.usesEveryRule) struct RetryTests {
    @Test func theFirstFailureIsRetried() {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock, [.when(.get, "/cart", .status(.serviceUnavailable), .json(#"["tea"]"#))])
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(500)))
        let client = Client(configuration: configuration, transport: transport)

        let goods = client.get("/cart").decode([String].self).map { $0.joined() }
        expect(goods, emits: " 500ms (a|)", values: ["a": "tea"], on: clock)
    }
}
