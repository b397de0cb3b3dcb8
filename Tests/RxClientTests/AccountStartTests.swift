import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import RxWebSocket
import Synchronization
import Testing

/// A subscription belongs to the account at its start, wherever it waits.
@Suite struct AccountStartTests {
    private static let first = Credential(token: "t0", account: "anna")
    private static let second = Credential(token: "B", account: "bert")
    private static let changes: [Credential?] = [nil, second]

    private func bench(
        cachePolicy: CachePolicy = .never, configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> LoginBench {
        LoginBench(credential: Self.first, cachePolicy: cachePolicy, configure: configure)
    }

    private func change(_ session: Session, to credential: Credential?) {
        if let credential { session.logIn(with: credential) } else { session.logOut() }
    }

    /// Starts a stream, changes the account after a while, and expects the stream to end for it.
    private func expectEnd<Element>(
        of stream: Observable<Element, NetworkError>, in bench: LoginBench, changing credential: Credential?,
        after time: Duration = .milliseconds(100), lines: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let recorder = Recorder(stream, on: bench.clock)
        try bench.clock.advance(by: time)
        #expect(recorder.completion == nil, sourceLocation: sourceLocation)
        change(bench.session, to: credential)
        try bench.clock.run()
        #expect(recorder.failure?.code == .loginExpired, sourceLocation: sourceLocation)
        #expect(bench.lines == lines, sourceLocation: sourceLocation)
    }

    @Test(arguments: [false, true], changes)
    func aRequestThatWaitsForItsTurn(perHost: Bool, credential: Credential?) throws {
        let bench = bench {
            if perHost {
                $0.hostLimits = RequestLimits(concurrency: 1)
            } else {
                $0.limits = RequestLimits(concurrency: 1)
            }
        }
        bench.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let slow = bench.get("/slow")
        try expectEnd(
            of: bench.client.post("/orders"), in: bench, changing: credential, lines: ["GET /slow t0"])
        #expect(slow.values == ["\"/slow\""], "the response of a request that was sent before still arrives")
    }

    @Test(arguments: changes)
    func aRequestThatAnInterceptorDelays(credential: Credential?) throws {
        struct Delay: Interceptor {
            func intercept(
                _ request: Request, in call: CallContext, _ next: Next
            ) -> Observable<CallEvent, NetworkError> {
                Observable<Void, Never>.timer(.seconds(1), on: call.scheduler)
                    .setFailureType(to: NetworkError.self).flatMap { next(request) }
            }
        }
        for cachePolicy in [CachePolicy.never, .time(.seconds(60))] {
            let bench = bench(cachePolicy: cachePolicy) {
                $0.options.interceptors.call.append(Delay())
            }
            try expectEnd(of: bench.client.get("/goods"), in: bench, changing: credential, lines: [])
        }
    }

    @Test(arguments: changes)
    func aRequestThatWaitsInAQueue(credential: Credential?) throws {
        let bench = bench()
        bench.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let queue = RequestQueue(limit: 1)
        let slow = Recorder(bench.client.get("/slow").queued(in: queue), on: bench.clock)
        try expectEnd(
            of: bench.client.post("/orders").queued(in: queue), in: bench, changing: credential,
            lines: ["GET /slow t0"])
        #expect(slow.isFinished)
        // The queue itself belongs to no account.
        _ = Recorder(bench.client.get("/next").queued(in: queue), on: bench.clock)
        try bench.clock.run()
        #expect(bench.lines.dropFirst().first == "GET /next \(credential?.token ?? "-")")
    }

    @Test(arguments: changes)
    func aRequestThatWaitsForALimiterByHand(credential: Credential?) throws {
        let bench = bench()
        bench.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let limiter = RequestLimiter(total: RequestLimits(concurrency: 1))
        let slow = Recorder(bench.client.get("/slow").limited(by: limiter), on: bench.clock)
        try expectEnd(
            of: bench.client.response(.post("/orders")).limited(by: limiter), in: bench, changing: credential,
            lines: ["GET /slow t0"])
        #expect(slow.isFinished)
    }

    @Test(arguments: changes)
    func aRequestThatWaitsForTheCacheStore(credential: Credential?) throws {
        let clock = VirtualScheduler(startingAt: LoginBench.start)
        let store = LateStore(clock: clock)
        let bench = LoginBench(
            on: clock, credential: Self.first, cachePolicy: .time(.seconds(600)),
            configure: {
                $0.cache = ResponseCache(store: store)
            })
        try expectEnd(of: bench.client.get("/goods"), in: bench, changing: credential, lines: [])
        // Nothing has been stored for anybody.
        #expect(store.usage.entries == 0)
    }

    /// A lookup that finds an old response starts its renewal in the background.
    @Test func aRefreshAfterALateLookupIsNotSentAsAnotherAccount() throws {
        let clock = VirtualScheduler(startingAt: LoginBench.start)
        let bench = LoginBench(
            on: clock, credential: Self.first, cachePolicy: .http,
            configure: {
                $0.cache = ResponseCache(store: LateStore(clock: clock))
            })
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=600"]
        bench.server.contents.withLock { $0.answers["/goods"] = [.json("1", headers: fields)] }
        _ = bench.get("/goods")
        try clock.advance(by: .seconds(10))
        let again = bench.get("/goods")
        try clock.advance(by: .milliseconds(100))
        bench.session.logIn(with: Self.second)
        try clock.run()
        #expect(again.values == ["1"])
        #expect(bench.lines == ["GET /goods t0"])
    }

    @Test func requestsOfTwoAccountsAreNotJoined() throws {
        let bench = bench(cachePolicy: .time(.seconds(600)))
        bench.server.contents.withLock { $0.delays["/goods"] = .seconds(1) }
        let own = bench.get("/goods")
        bench.session.logIn(with: Self.second)
        bench.server.contents.withLock { $0.token = "B" }
        let other = bench.get("/goods")
        try bench.clock.run()
        // The response of a request that has been sent still arrives.
        #expect(own.isFinished && other.isFinished)
        #expect(bench.lines == ["GET /goods t0", "GET /goods B"])
    }

    @Test(arguments: changes)
    func aDownloadThatWaitsForItsPath(credential: Credential?) throws {
        let clock = VirtualScheduler(startingAt: LoginBench.start)
        let files = MemoryFileSystem(on: clock, latency: .seconds(1))
        let bench = LoginBench(on: clock, credential: Self.first, configure: { $0.files = files })
        try expectEnd(
            of: bench.client.download(.get("/map"), to: "/d/map"), in: bench, changing: credential, lines: [])
        #expect(files.paths.isEmpty)
    }

    // MARK: Streams

    private func event(_ number: Int) -> ScriptedTransport.Reply {
        EventSourceBench.answer("id: \(number)\ndata: \(number)\n\n")
    }

    @Test(arguments: changes)
    func anEventSourceThatWaitsToConnectAgain(credential: Credential?) throws {
        let bench = bench()
        bench.server.contents.withLock { $0.answers["/events"] = [event(1), event(2)] }
        try expectEnd(
            of: bench.client.events(.get("/events")), in: bench, changing: credential,
            lines: ["GET /events t0"])
        #expect(bench.clock.now < .seconds(3), "it ends at once")
        let next = Recorder(bench.client.events(.get("/events")), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(100))
        #expect(next.values.count == 3)
        #expect(bench.transport.requests.last?.headerFields[.init("Last-Event-ID")!] == nil)
    }

    /// Events that arrive after a logout are those of a user who has left.
    @Test(arguments: changes)
    func anOpenEventSource(credential: Credential?) throws {
        let bench = bench()
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        bench.server.contents.withLock {
            $0.answers["/events"] = [
                .steps(.head(head), .wait(.seconds(5)), .chunk(Array("data: a\n\n".utf8)))
            ]
        }
        try expectEnd(
            of: bench.client.events(.get("/events")).messages(), in: bench, changing: credential,
            lines: ["GET /events t0"])
        #expect(bench.clock.now < .seconds(5))
    }

    @Test(arguments: changes)
    func aResumedStream(credential: Credential?) throws {
        let bench = bench()
        let head = ResponseHead(status: .ok)
        bench.server.contents.withLock {
            $0.answers["/lines"] = [
                .steps(.head(head), .chunk(Array("1\n".utf8)), .fail(NetworkError(.connectionLost, "cut")))
            ]
        }
        let stream: Observable<Int, NetworkError> = bench.client.stream(
            .get("/lines"), resumption: .next { _ in .get("/lines") }, reading: { $0.jsonLines(Int.self) })
        try expectEnd(of: stream, in: bench, changing: credential, lines: ["GET /lines t0"])
    }

    @Test func aStreamWithoutCredentialContinues() throws {
        let bench = bench()
        bench.server.contents.withLock { $0.answers["/events"] = [event(1), event(2), .status(.noContent)] }
        let options = RequestOptions(usesSession: false)
        let recorder = Recorder(bench.client.events(.get("/events", options: options)), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(100))
        bench.session.logOut()
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.lines.count == 3)
    }

    @Test func aStreamOutlivesTheFirstLoginAndARenewal() throws {
        let bench = LoginBench(credential: nil)
        bench.server.contents.withLock {
            $0.answers["/events"] = [
                .status(.unauthorized), event(1), .status(.unauthorized), event(2), .status(.noContent),
            ]
        }
        let recorder = Recorder(bench.client.events(.get("/events")), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(
            bench.lines == [
                "GET /events -", "POST /login -", "GET /events t1", "GET /events t1", "POST /login -",
                "GET /events t2", "GET /events t2",
            ])
    }

    // MARK: WebSockets

    @Test(arguments: changes)
    func aQueuedMessageIsNotSentOnTheNextAccountsConnection(credential: Credential?) throws {
        let session = Session(credential: Self.first) { .never() }
        let bench = WebSocketBench(.webSocket(.end), .webSocket(.echo), session: session)
        let own = bench.open(.reconnecting)
        try bench.clock.advance(by: .milliseconds(500))
        let queued = bench.send("of anna")
        change(session, to: credential)
        #expect(own.failure?.code == .loginExpired)
        #expect(queued.failure?.code == .loginExpired)
        #expect(bench.sink.state.value == .idle)
        let other = bench.open(.reconnecting)
        let message = bench.send("of bert")
        try bench.clock.advance(by: .seconds(5))
        #expect(other.values == ["opened", "of bert"])
        #expect(message.isFinished)
        #expect(bench.transport.exchanges.map(\.messages) == [[], [.text("of bert")]])
    }

    @Test(arguments: changes)
    func anOpenWebSocketEndsWithItsAccount(credential: Credential?) throws {
        let session = Session(credential: Self.first) { .never() }
        let bench = WebSocketBench(.webSocket(.echo), session: session)
        let own = bench.open()
        try bench.clock.advance(by: .milliseconds(500))
        change(session, to: credential)
        let late = bench.send("late")
        try bench.clock.advance(by: .seconds(10))
        #expect(own.failure?.code == .loginExpired)
        #expect(late.failure?.code == .webSocketClosed, "the sink belongs to no subscription")
        #expect(bench.transport.exchanges.map(\.messages) == [[]])
        #expect(bench.transport.exchanges[0].closeCode == .normalClosure)
    }

    /// The next account may open its WebSocket before the previous one has noticed: here inside one of its events.
    @Test func theNextAccountTakesTheSinkOver() throws {
        let session = Session(credential: Self.first) { .never() }
        let bench = WebSocketBench(
            .webSocket(.wait(.milliseconds(1)), .send(.text("change"))), .webSocket(.echo), session: session)
        let other = Box<Recorder<String, NetworkError>>()
        let queued = Box<Recorder<Void, NetworkError>>()
        let own = Recorder(
            bench.client.webSocket("/live", sending: bench.sink, settings: .reconnecting).texts()
                .handleEvents(onNext: { _ in
                    queued.value = bench.send("of anna")
                    session.logIn(with: Self.second)
                    other.value = bench.open(.reconnecting)
                    // The connection of anna is still open, and about to send what waits.
                    _ = bench.send("first of bert")
                }), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(500))
        _ = bench.send("of bert")
        try bench.clock.advance(by: .seconds(5))
        #expect(own.failure?.code == .loginExpired)
        #expect(other.value?.values == ["opened", "first of bert", "of bert"])
        #expect(queued.value?.failure?.code == .loginExpired)
        #expect(
            bench.transport.exchanges.map(\.messages) == [[], [.text("first of bert"), .text("of bert")]])
        #expect(bench.sink.state.value == .open)
    }

    // MARK: Lists

    private func paging(
        _ credential: Credential
    ) -> (clock: VirtualScheduler, transport: ScriptedTransport, session: Session, client: Client) {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            .json("[\"\(request.token ?? "-")\"]", after: .milliseconds(10))
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let session = Session(credential: credential) { .never() }
        configuration.session = session
        return (clock, transport, session, Client(configuration: configuration, transport: transport))
    }

    private struct Names: Endpoint {
        typealias Output = [String]
        let path = "/names"
    }

    @Test(arguments: changes)
    func aListDoesNotMixAccounts(credential: Credential?) throws {
        let (clock, transport, session, client) = paging(Self.first)
        let (next, reload) = (Signal<Void>(), Signal<Void>())
        let list = Recorder(
            client.pages(Names(), .numbered(size: 1), next: next, reload: reload), on: clock)
        try clock.run()
        change(session, to: credential)
        for signal in [next, reload] {
            signal.send()
            try clock.run()
            #expect(list.values.last?.items == ["t0"])
            #expect(list.values.last?.phase.error?.code == .loginExpired)
        }
        #expect(transport.requests.count == 1)
        let other = Recorder(client.pages(Names(), .numbered(size: 1), next: next), on: clock)
        try clock.run()
        #expect(other.values.last?.items == [credential?.token ?? "-"])
    }

    @Test(arguments: [0, 2], changes)
    func aWalkThroughAllItemsDoesNotMixAccounts(ahead: Int, credential: Credential?) throws {
        let (clock, _, session, client) = paging(Self.first)
        let items = Recorder(
            client.items(Names(), .numbered(size: 1), options: PagingOptions(ahead: ahead)), on: clock)
        try clock.advance(by: .milliseconds(25))
        change(session, to: credential)
        try clock.run()
        #expect(items.failure?.code == .loginExpired)
        #expect(!items.values.isEmpty && Set(items.values) == ["t0"])
    }
}

/// A store that takes a second for each lookup.
private struct LateStore: CacheStore {
    let store = MemoryCacheStore()
    let clock: VirtualScheduler

    func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        store.entries(for: key).delay(.seconds(1), on: clock)
    }

    func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { store.store(entry) }
    func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> { store.update(metadata) }
    func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { store.remove(selection) }
    var usage: CacheUsage { store.usage }
}
