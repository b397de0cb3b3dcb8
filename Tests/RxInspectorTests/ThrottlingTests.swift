#if Inspector
import RxClient
import RxHTTP
import RxNetworking
import RxTesting
import Testing

@testable import RxInspector

/// The panel's throttling of a program, and several inspectors beside each other.
@Suite(.timeLimit(.minutes(2))) struct ThrottlingTests {
    private let clock = VirtualScheduler()
    private let client: Client

    init() {
        let chunk = [UInt8](repeating: 65, count: 1000)
        let chunks = (0..<3).flatMap { _ in
            [ScriptedTransport.Step.wait(.seconds(1)), .chunk(chunk)]
        }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .never
        client = Client(
            configuration: configuration,
            transport: ScriptedTransport(
                on: clock,
                [
                    .when(
                        .get, "/slow",
                        ScriptedTransport.Reply([.head(ResponseHead(status: .ok))] + chunks + [.finish])),
                    .when(
                        .get, "/live",
                        .webSocket(ScriptedWebSocket([.wait(.seconds(1)), .send(.text("hi"))]))),
                ]))
    }

    /// Bytes per second; 0 for no limit.
    private func throttle(_ rate: Int, latency: Int = 0, isOffline: Bool = false, by panel: FrontEndProbe)
        async throws
    {
        try await panel.call(
            "Network.emulateNetworkConditions",
            [
                "offline": .bool(isOffline), "latency": .integer(latency),
                "downloadThroughput": .integer(rate == 0 ? -1 : rate), "uploadThroughput": -1,
            ])
    }

    @Test(arguments: [true, false])
    func throttlingEndsForTransfersUnderWay(byItsPanel: Bool) async throws {
        let inspector = try await Inspector.start(client)
        let panel = FrontEndProbe(inspector)
        try await throttle(1, latency: 500_000, by: panel)
        let recorder = Recorder(client.get("/slow"), on: clock)
        try clock.advance(by: .seconds(100))
        #expect(recorder.events.isEmpty, "the latency is not over")
        try await throttle(1, by: panel)
        try clock.advance(by: .seconds(600))
        #expect(recorder.events.isEmpty, "the first chunk takes 1,000 s")
        if byItsPanel { try await throttle(0, by: panel) } else { await inspector.stop() }
        try clock.run()
        #expect(recorder.values.first?.body.count == 3000)
        #expect(clock.now <= .seconds(703))
        await inspector.stop()
    }

    @Test func throttlingBeginsForTransfersUnderWay() async throws {
        let inspector = try await Inspector.start(client)
        let panel = FrontEndProbe(inspector)
        try await panel.call("Network.enable")
        let recorder = Recorder(client.get("/slow"), on: clock)
        try clock.advance(by: .milliseconds(1500))
        try await throttle(10, by: panel)
        try clock.advance(by: .seconds(100))
        #expect(recorder.events.isEmpty)
        try clock.run()
        #expect(recorder.values.first?.body.count == 3000)
        #expect(clock.now == .seconds(202), "two chunks of 100 s each, the first of them after 2 s")
        await inspector.stop()
    }

    @Test func aPanelThatGoesOfflineEndsTransfersUnderWay() async throws {
        let inspector = try await Inspector.start(client)
        let panel = FrontEndProbe(inspector)
        try await panel.call("Network.enable")
        let request = Recorder(client.get("/slow"), on: clock)
        let socket = Recorder(client.webSocket("/live"), on: clock)
        try clock.advance(by: .milliseconds(1500))
        #expect(socket.values.count == 2)
        try await throttle(0, isOffline: true, by: panel)
        try clock.advance(by: .milliseconds(1))
        #expect(request.failure?.code == .connectionLost)
        #expect(request.failure?.isUnsent == false)
        #expect(socket.failure?.code == .connectionLost)
        let next = Recorder(client.get("/slow"), on: clock)
        try clock.advance(by: .milliseconds(1))
        #expect(next.failure?.code == .unreachable)
        #expect(next.failure?.isUnsent == true)
        await inspector.stop()
    }

    @Test func inspectorsKeepTheirSettings() async throws {
        let first = try await Inspector.start(client)
        let (one, other): (FrontEndProbe, FrontEndProbe)
        one = FrontEndProbe(first)
        try await throttle(1000, by: one)
        try await one.call("Network.setCacheDisabled", ["cacheDisabled": true])
        let second = try await Inspector.start(client)
        #expect(
            client.developerTools
                == DeveloperTools(network: EmulatedNetwork(downloadRate: 1000), isCacheDisabled: true))
        other = FrontEndProbe(second)
        try await throttle(2000, by: other)
        #expect(client.developerTools.network?.downloadRate == 2000, "the latest")
        try await other.call("Network.setCacheDisabled", ["cacheDisabled": false])
        #expect(client.developerTools.isCacheDisabled)
        await second.stop()
        #expect(
            client.developerTools
                == DeveloperTools(network: EmulatedNetwork(downloadRate: 1000), isCacheDisabled: true))
        await first.stop()
        #expect(client.developerTools == DeveloperTools())
    }
}
#endif
