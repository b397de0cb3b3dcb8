import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// The requests that an observer is shown if there are more than it wants.
@Suite struct RequestSamplingTests {
    private let clock = VirtualScheduler()
    private let client: Client

    init() {
        client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"),
            transport: ScriptedTransport(
                on: clock,
                [
                    .when(.get, "/goods", .json("1")), .when(.get, "/slow", .json("1", after: .seconds(1))),
                    .when(.get, "/moved", .status(.found, headers: [.location: "/unwell"])),
                    .when(.get, "/unwell", .status(.serviceUnavailable)),
                ]))
    }

    private func load(_ count: Int) throws {
        for _ in 0..<count {
            let recorder = Recorder(client.get("/goods"), on: clock)
            try clock.run()
            #expect(recorder.values.count == 1)
        }
    }

    @Test func aRequestIsShownWholeOrNotAtAll() throws {
        let sampling = RequestSampling(.perSecond(0, burst: 2))
        let events = Recorder(client.traffic(sampling), on: clock)
        try load(5)
        let shown = Dictionary(grouping: events.values, by: \.request.id)
        #expect(shown.count == 2)
        // started, sent, head, chunk, finished, ended
        #expect(shown.values.map(\.count) == [6, 6])
        #expect(sampling.omittedCount == 3)
        events.cancel()
        #expect(!client.trafficHub.isObserved)
        try load(1)
        #expect(sampling.omittedCount == 3)
    }

    @Test func subscribersOfTheTrafficSeeAllRequests() throws {
        let sampling = RequestSampling(.perSecond(0, burst: 1))
        let some = Recorder(client.traffic(sampling), on: clock)
        let all = Recorder(client.traffic, on: clock)
        try load(3)
        #expect(Set(some.values.map(\.request.id)).count == 1)
        #expect(Set(all.values.map(\.request.id)).count == 3)
    }

    @Test func eachSamplingChoosesForItself() throws {
        let (some, all) = (RequestSampling(.perSecond(0, burst: 2)), RequestSampling(nil))
        let (few, many) = (
            Recorder(client.traffic(some), on: clock), Recorder(client.traffic(all), on: clock)
        )
        try load(5)
        #expect(Set(few.values.map(\.request.id)).count == 2)
        #expect(some.omittedCount == 3)
        #expect(Set(many.values.map(\.request.id)).count == 5)
        #expect(all.omittedCount == 0)
    }

    @Test func aRequestThatBeganBeforeIsNotShown() throws {
        let before = Recorder(client.traffic(RequestSampling(nil)), on: clock)
        let recorder = Recorder(client.get("/slow"), on: clock)
        try clock.advance(by: .milliseconds(500))
        let after = Recorder(client.traffic(RequestSampling(nil)), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
        #expect(before.values.count == 6)
        #expect(after.values.isEmpty)
    }

    @Test func retriesAndRedirectsOfARequestAreOneChoice() throws {
        let sampling = RequestSampling(.perSecond(0, burst: 1))
        let events = Recorder(client.traffic(sampling), on: clock)
        var options = RequestOptions()
        options.retry = .exponentialBackoff(maxRetries: 2)
        let recorder = Recorder(client.get("/moved", options: options), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .status)
        // Three attempts of two exchanges.
        #expect(events.values.filter { if case .sent = $0.kind { true } else { false } }.count == 6)
        #expect(sampling.omittedCount == 0)
    }

    @Test func withoutARateAllAreShown() throws {
        let sampling = RequestSampling(nil)
        let events = Recorder(client.traffic(sampling), on: clock)
        try load(50)
        #expect(Set(events.values.map(\.request.id)).count == 50)
        #expect(sampling.omittedCount == 0)
    }

    @Test func theDeveloperToolsApplyToRequestsThatAreNotShown() throws {
        let subscription = client.traffic(RequestSampling(.perSecond(0, burst: 1))).subscribe()
        try load(1)
        client.apply(DeveloperTools(network: EmulatedNetwork(isOffline: true)), of: clock)
        let recorder = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .unreachable)
        subscription.cancel()
    }
}
