import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// The client's check before anything is sent.
@Suite struct ReachabilityTests {
    private let clock = VirtualScheduler()
    private let reachability = ScriptedReachability()

    private func fixture() -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock) { _ in .json("1", after: .milliseconds(10)) }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.reachability = reachability
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// Unreachable: fails at once with its own error, is not retried, and nothing is sent.
    @Test func unreachable() {
        let (client, transport) = fixture()
        reachability.set(.unreachable)
        let tips = Recorder(client.errorTips, on: clock)
        for stream in [client.get("/x"), client.response(.get("/x"))] {
            let recorder = Recorder(stream, on: clock)
            #expect(recorder.failure?.code == .unreachable)
            #expect(recorder.failure?.url?.absoluteString == "https://shop.test/x")
        }
        #expect(transport.requests.isEmpty)
        #expect(tips.values.map(\.code) == [.unreachable, .unreachable])
        #expect(client.activity.count.value == 0)
    }

    /// Every other status lets requests through, including unknown.
    @Test(arguments: [NetworkStatus.unknown, .wired, .wifi, .cellular])
    func reachable(status: NetworkStatus) throws {
        let (client, _) = fixture()
        reachability.set(status)
        #expect(status.isReachable)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
    }

    /// The current status counts, and a request under way continues.
    @Test func moment() throws {
        let (client, _) = fixture()
        let first = Recorder(client.get("/1"), on: clock)
        reachability.set(.unreachable)
        try clock.run()
        #expect(first.isFinished)
        let again = client.get("/2")
        #expect(Recorder(again, on: clock).failure?.code == .unreachable)
        reachability.stop()
        let third = Recorder(again, on: clock)
        try clock.run()
        #expect(third.isFinished)
    }

    /// The signal has the status and each change, and no value while it is stopped.
    @Test func changes() {
        let recorder = Recorder(reachability.statuses, on: clock)
        for status in [NetworkStatus.wifi, .wifi, .unreachable, .cellular] { reachability.set(status) }
        reachability.stop()
        reachability.set(.wired)
        #expect(reachability.status == .unknown)
        reachability.start()
        #expect(recorder.values == [.unknown, .wifi, .unreachable, .cellular, .unknown, .wired])
    }
}
