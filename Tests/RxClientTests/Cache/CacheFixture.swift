import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// A client with a cache, connected to a scripted shop.
struct CacheFixture {
    let clock = VirtualScheduler()

    struct Goods: Endpoint {
        typealias Output = [Int]
        var path = "/goods"
        var method = HTTPRequest.Method.get
        var parameters: Parameters = .none
        var options = RequestOptions()
    }

    func client(
        _ policy: CachePolicy = .time(.seconds(60)), _ rules: ScriptedTransport.Rule...,
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        let clock = clock
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.cache = ResponseCache { Date.start + clock.now / .seconds(1) }
        configuration.options.cachePolicy = policy
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        configure(&configuration)
        let transport = ScriptedTransport(on: clock, rules)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    @discardableResult
    func run<E: Endpoint>(
        _ endpoint: E, _ client: Client
    ) throws -> Recorder<TypedResponse<E.Output>, NetworkError> {
        let recorder = Recorder(client.typedResponse(endpoint), on: clock)
        try clock.run()
        return recorder
    }
}

extension ResponseCache {
    /// The clock of the tests.
    var date: @Sendable () -> Date { { .start } }
}
