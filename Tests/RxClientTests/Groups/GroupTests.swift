import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// Requests in parallel and in sequence: Docs/Semantics.md, "Around the call", in virtual time.
@Suite struct GroupTests {
    private let clock = VirtualScheduler()

    private func client(_ rules: ScriptedTransport.Rule...) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, rules)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// All at once, one combined result, typed.
    @Test func together() throws {
        let (client, transport) = client(
            .when(.get, "/goods", .json("[1, 2]", after: .milliseconds(30))),
            .when(.get, "/user", .json(#""ada""#, after: .milliseconds(10))))
        let both = Observable.zip(
            client.get("/goods").decode([Int].self), client.get("/user").decode(String.self))
        let recorder = Recorder(both.map { goods, user in "\(user) \(goods)" }, on: clock)
        try clock.advance(by: .milliseconds(5))
        #expect(transport.runningCount == 2)
        try clock.run()
        #expect(recorder.values == ["ada [1, 2]"])
        #expect(recorder.isFinished)
    }

    /// Fail-fast: the first failure is the group's, and cancels the other members.
    @Test func failFast() throws {
        let (client, transport) = client(
            .when(.get, "/1", .json("1", after: .milliseconds(10))),
            .when(.get, "/2", .failure(.connectionLost, after: .milliseconds(20))), .when(.get, "/3"))
        let requests = (1...3).map { client.get("/\($0)").decode(Int.self) }
        let recorder = Recorder(.zip(requests), on: clock)
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == .connectionLost)
        #expect(transport.exchanges.map(\.outcome) == [.finished, .failed(.connectionLost), .cancelled])
        #expect(client.activity.count.value == 0)
    }

    /// Settle all: every result, in the order of the requests.
    @Test func settleAll() throws {
        let (client, _) = client(
            .when(.get, "/1", .json("1", after: .milliseconds(30))), .when(.get, "/2", .status(.notFound)),
            .when(.get, "/3", .json("3", after: .milliseconds(10))))
        let requests = (1...3).map { client.get("/\($0)").decode(Int.self).asResult() }
        let recorder = Recorder(Observable.zip(requests), on: clock)
        try clock.run()
        let outcomes = try #require(recorder.values.first).map { outcome in
            switch outcome {
            case .success(let number): "\(number)"
            case .failure(let error): error.code.rawValue
            }
        }
        #expect(outcomes == ["1", "status", "3"])
        #expect(recorder.isFinished)
    }

    /// An empty batch ends at once.
    @Test func empty() {
        let none: [Observable<Int, NetworkError>] = []
        let recorder = Recorder(Observable<[Int], NetworkError>.zip(none), on: clock)
        #expect(recorder.isFinished)
        #expect(recorder.values.isEmpty)
        let settled = Recorder(
            Observable<[Result<Int, NetworkError>], Never>.zip(none.map { $0.asResult() }), on: clock)
        #expect(settled.isFinished)
    }

    /// A member that is cancelled separately fails the group, and is a result when all settle.
    @Test func memberCancelled() throws {
        let (client, transport) = client(.when(.get, "/*"))
        let requests = (1...2).map { client.get("/\($0)").decode(Int.self) }
        let group = Recorder(Observable.zip(requests), on: clock)
        try clock.advance(by: .milliseconds(1))
        #expect(client.cancel(.url("/1")) == 1)
        #expect(group.failure?.code == .cancelled)
        #expect(transport.runningCount == 0)
    }

    /// A chain: each request is built from the previous response.
    @Test func chain() throws {
        let (client, transport) = client(
            .when(.get, "/user", .json("7")), .when(.get, "/orders/7", .json("[3, 4]")),
            .when(.get, "/order/4", .json(#""tea""#)))
        let chain = client.get("/user").decode(Int.self)
            .flatMap { client.get("/orders/\($0)").decode([Int].self) }
            .flatMap { client.get("/order/\($0.last ?? 0)").decode(String.self) }
        let recorder = Recorder(chain, on: clock)
        try clock.run()
        #expect(recorder.values == ["tea"])
        #expect(transport.requests.map(\.url.path) == ["/user", "/orders/7", "/order/4"])
    }

    /// Cancelling a chain stops the rest.
    @Test(arguments: [0, 5, 15])
    func chainCancelled(milliseconds: Int) throws {
        let (client, transport) = client(.when(.get, "/*", .json("1", after: .milliseconds(10))))
        let chain = client.get("/1").flatMap { _ in client.get("/2") }.flatMap { _ in client.get("/3") }
        let recorder = Recorder(chain, on: clock)
        try clock.advance(to: .milliseconds(milliseconds))
        recorder.cancel()
        try clock.run()
        #expect(transport.requests.count == (milliseconds < 10 ? 1 : 2))
        #expect(transport.cancelled.count == 1)
        #expect(recorder.events.isEmpty)
        #expect(client.activity.count.value == 0)
    }

    /// A chain whose first request fails sends nothing more.
    @Test func chainFails() throws {
        let (client, transport) = client(.when(.get, "/1", .status(.notFound)), .when(.get, "/2"))
        let recorder = Recorder(client.get("/1").flatMap { _ in client.get("/2") }, on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(transport.requests.count == 1)
    }

    /// Loading again through the same loader cancels the previous load; its response is never delivered.
    @Test func loader() throws {
        let (client, transport) = client(.when(.get, "/search", .json("1", after: .milliseconds(10))))
        let load = Signal<String>()
        let results = Observable<String, Never>(scheduler: clock) { load.observable.subscribe($0) }
            .flatMap(.latest) { keyword in
                client.get("/search", query: ["q": keyword]).map { "\(keyword) \($0.text)" }.asResult()
            }
        let recorder = Recorder(results, on: clock)
        load.send("t")
        try clock.advance(by: .milliseconds(5))
        load.send("tea")
        try clock.run()
        load.send("milk")
        try clock.run()
        #expect(recorder.values.compactMap { try? $0.get() } == ["tea 1", "milk 1"])
        #expect(transport.exchanges.map(\.outcome) == [.cancelled, .finished, .finished])
    }
}
