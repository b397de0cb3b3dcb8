import FoundationEssentials
import RxNetworking
import RxTesting
import Testing

/// The samples of the page on parameters send the requests that the page shows.
@Suite struct ParameterSampleTests {
    private let clock = VirtualScheduler()

    /// The query of each request of `send`.
    private func queries(
        _ configuration: ClientConfiguration = ClientConfiguration(),
        _ send: (Client) -> [Observable<Response, NetworkError>]
    ) throws -> [String?] {
        var configuration = configuration
        configuration.baseURL = "https://api.example.com"
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        let recorders = send(Client(configuration: configuration, transport: transport))
            .map { Recorder($0, on: clock) }
        try clock.run()
        for recorder in recorders { #expect(recorder.failure == nil) }
        return transport.requests.map { $0.url.query() }
    }

    @Test func aCustomQueryIsEscaped() throws {
        var configuration = ClientConfiguration()
        _ = chooseFormats(
            &configuration, Client(baseURL: "https://api.example.com"), title: "tea", pack: { _ in [] })
        let sent = try queries(configuration) { client in
            [
                client.get("/goods", query: ["keyword": "绿茶", "page": 1]),
                client.get("/goods", query: ["keyword": "a:b,c#d"]),
            ]
        }
        #expect(sent == ["keyword:%E7%BB%BF%E8%8C%B6,page:1", "keyword:a%3Ab%2Cc%23d"])
    }

    @Test func aModelIsAQuery() throws {
        #expect(try queries { [sendAModelAsQuery($0)] } == ["keyword=%E7%BB%BF%E8%8C%B6&maxPrice=9.99"])
    }
}
