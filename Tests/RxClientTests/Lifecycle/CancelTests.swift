import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Cancelling through the client.
@Suite struct CancelTests {
    private let clock = VirtualScheduler()

    private func client() -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock) { _ in .json("1", after: .milliseconds(10)) }
        return (
            Client(baseURL: "https://shop.test/v1", transport: transport),
            transport
        )
    }

    /// Requests to `/1 a`, `/1?q=2 a b`, `/2 b`, `/3`: path and tags.
    private func load(_ client: Client) -> [Recorder<Response, NetworkError>] {
        var calls = [
            InlineEndpoint(.get, "/1"), InlineEndpoint(.get, "/1", query: ["q": 2]),
            InlineEndpoint(.get, "/2"), InlineEndpoint(.get, "/3"),
        ]
        calls[0].options.tags = ["a"]
        calls[1].options.tags = ["a", "b"]
        calls[2].options.tags = ["b"]
        return calls.map { Recorder(client.request($0), on: clock) }
    }

    /// By URL, by tag, and all; without a match nothing is cancelled.
    @Test(
        arguments: [
            (.all, [0, 1, 2, 3]), (.url("/1"), [0, 1]), (.url("https://shop.test/v1/2"), [2]),
            (.url("/1?q=9"), [0, 1]), (.url("/4"), []), (.url("https://other.test/1"), []), (.url("a b"), []),
            (.tag("a"), [0, 1]), (.tag("b"), [1, 2]), (.tag("c"), []), (.id(.next()), []),
        ] as [(RequestSelection, [Int])])
    func selections(selection: RequestSelection, expected: [Int]) throws {
        let (client, transport) = client()
        let recorders = load(client)
        try clock.advance(by: .milliseconds(1))
        #expect(client.cancel(selection) == expected.count)
        #expect(client.activity.count.value == 4 - expected.count)
        #expect(transport.cancelled.count == expected.count)
        try clock.run()
        for (index, recorder) in recorders.enumerated() {
            #expect(recorder.failure?.code == (expected.contains(index) ? .cancelled : nil))
            #expect(recorder.values.count == (expected.contains(index) ? 0 : 1))
        }
        #expect(client.cancel(.all) == 0)
    }

    /// By id, which is reported to accessories.
    @Test func byID() throws {
        let ids = Mutex<[RequestID]>([])
        let transport = ScriptedTransport(on: clock) { _ in .stall }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.accessories = [
            Accessory(willStart: { request in ids.withLock { $0.append(request.id) } })
        ]
        let client = Client(configuration: configuration, transport: transport)
        let recorders = ["/1", "/2"].map { Recorder(client.get($0), on: clock) }
        let second = try #require(ids.withLock { $0.last })
        #expect(client.cancel(.id(second)) == 1)
        #expect(recorders.map { $0.failure?.requestID } == [nil, second])
        #expect(transport.exchanges.map(\.outcome) == [.running, .cancelled])
    }

    /// Callbacks get no event, on any scheduler.
    @Test func silence() async throws {
        actor Place {}
        let (client, _) = client()
        let calls = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { call in calls.withLock { $0.append(call) } }
        let subscriptions = [
            client.get("/1").subscribe(
                onNext: { _ in note("value") }, onFailure: { _ in note("failure") },
                onFinish: { note("finish") }),
            client.get("/2").subscribe(
                isolatedTo: MainActor.self, onNext: { _ in note("value") },
                onFailure: { _ in note("failure") }, onFinish: { note("finish") }),
            client.get("/3").subscribe(
                isolatedTo: Place(), onNext: { _, _ in note("value") },
                onFailure: { _, _ in note("failure") }, onFinish: { _ in note("finish") }),
        ]
        try clock.advance(by: .milliseconds(1))
        #expect(client.cancel(.all) == 3)
        try clock.run()
        while subscriptions.contains(where: \.isActive) { await Task.yield() }
        #expect(calls.withLock { $0 }.isEmpty)
    }

    /// An accessory that cancels before anything is sent, and a subscriber that cancels with its value.
    @Test func fromWithin() throws {
        let transport = ScriptedTransport(on: clock) { _ in .json("1") }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let box = Box<Client>()
        configuration.options.accessories = [
            Accessory(willStart: { request in
                if request.url.path == "/no" { box.value?.cancel(.id(request.id)) }
            })
        ]
        let client = Client(configuration: configuration, transport: transport)
        box.value = client
        let refused = Recorder(client.get("/no"), on: clock)
        #expect(refused.failure?.code == .cancelled)
        #expect(transport.requests.isEmpty)

        let taken = Recorder(client.get("/yes").handleEvents(onNext: { _ in client.cancel(.all) }), on: clock)
        try clock.run()
        #expect(taken.values.count == 1)
        #expect(taken.isFinished)
        #expect(client.activity.count.value == 0)
    }

    /// All subscriptions of an owner end with its bag.
    @Test func owner() throws {
        let (client, transport) = client()
        let calls = Mutex(0)
        var bag: SubscriptionBag? = SubscriptionBag()
        for path in ["/1", "/2"] {
            let subscription = client.get(path).subscribe(
                onNext: { _ in calls.withLock { $0 += 1 } }, onFailure: { _ in calls.withLock { $0 += 1 } })
            if let bag { subscription.store(in: bag) }
        }
        let other = Recorder(client.get("/3"), on: clock)
        try clock.advance(by: .milliseconds(1))
        bag = nil
        try clock.run()
        #expect(transport.cancelled.count == 2)
        #expect(calls.withLock { $0 } == 0)
        #expect(other.isFinished)
    }

    /// Waiting code continues: a list of pages shows the error and can load again.
    @Test func pages() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(3))
        let recorder = fixture.record()
        try fixture.clock.advance(by: .milliseconds(1))
        fixture.client.cancel(.all)
        fixture.next.send()
        try fixture.clock.run()
        #expect(recorder.texts == ["first", "failed(cancelled)", "first", "idle 1,2"])
    }

    /// Retries by hand are separate requests, and a cancelled one is not retried.
    @Test func retryByHand() throws {
        let (client, transport) = client()
        let recorder = Recorder(client.response(.get("/1")).retry(.exponentialBackoff()), on: clock)
        client.cancel(.all)
        try clock.run()
        #expect(recorder.failure?.code == .cancelled)
        #expect(transport.requests.count == 1)
    }

    /// The id of a request is known before it is sent, and cancels it.
    @Test func idAtTheCall() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(4))
        let started = Mutex<[RequestID]>([]), sent = Mutex<[Int]>([])
        let endpoint = GoodsList().with { [transport = fixture.transport] options in
            options.presentation = .hidden
            options.willStart = { request in
                started.withLock { $0.append(request.id) }
                sent.withLock { $0.append(transport.requests.count) }
            }
        }
        let recorder = Recorder(fixture.client.request(endpoint), on: fixture.clock)
        #expect(started.withLock { $0.count } == 1 && sent.withLock { $0 } == [0])
        let id = try #require(started.withLock { $0.first })
        try fixture.clock.advance(by: .milliseconds(1))
        #expect(fixture.transport.requests.map(\.id) == [id])
        #expect(fixture.client.cancel(.id(id)) == 1)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .cancelled)
        let pages = Recorder(fixture.client.items(endpoint, .numbered(size: 2)), on: fixture.clock)
        try fixture.clock.run()
        #expect(pages.values.count == 4)
        #expect(started.withLock { $0 } == fixture.transport.requests.map(\.id))
        #expect(Set(started.withLock { $0 }).count == 4)
    }

    /// A request can be cancelled from the closure that learns its id: nothing is sent.
    @Test func cancelledAtTheStart() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(4))
        let client = fixture.client
        let recorder = Recorder(
            client.request(GoodsList().with { $0.willStart = { client.cancel(.id($0.id)) } }),
            on: fixture.clock
        )
        try fixture.clock.run()
        #expect(recorder.failure?.code == .cancelled)
        #expect(fixture.transport.requests.isEmpty)
    }
}
