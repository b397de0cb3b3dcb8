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

    private func fixture(
        cachePolicy: CachePolicy = .never, configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> LoginFixture {
        LoginFixture(credential: Self.first, cachePolicy: cachePolicy, configure: configure)
    }

    private func change(_ session: Session, to credential: Credential?) {
        if let credential { session.logIn(with: credential) } else { session.logOut() }
    }

    /// Starts a stream, changes the account after a while, and expects the stream to end for it.
    private func expectEnd<Element>(
        of stream: Observable<Element, NetworkError>, in fixture: LoginFixture,
        changing credential: Credential?,
        after time: Duration = .milliseconds(100), lines: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let recorder = Recorder(stream, on: fixture.clock)
        try fixture.clock.advance(by: time)
        #expect(recorder.completion == nil, sourceLocation: sourceLocation)
        change(fixture.session, to: credential)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired, sourceLocation: sourceLocation)
        #expect(fixture.lines == lines, sourceLocation: sourceLocation)
    }

    @Test(arguments: [false, true], changes)
    func aRequestThatWaitsForItsTurn(perHost: Bool, credential: Credential?) throws {
        let fixture = fixture {
            if perHost {
                $0.hostLimits = RequestLimits(concurrency: 1)
            } else {
                $0.limits = RequestLimits(concurrency: 1)
            }
        }
        fixture.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let slow = fixture.get("/slow")
        try expectEnd(
            of: fixture.client.post("/orders"), in: fixture, changing: credential, lines: ["GET /slow t0"])
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
            let fixture = fixture(cachePolicy: cachePolicy) {
                $0.options.interceptors.call.append(Delay())
            }
            try expectEnd(of: fixture.client.get("/goods"), in: fixture, changing: credential, lines: [])
        }
    }

    @Test(arguments: changes)
    func aRequestThatWaitsInAQueue(credential: Credential?) throws {
        let fixture = fixture()
        fixture.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let queue = RequestQueue(limit: 1)
        let slow = Recorder(fixture.client.get("/slow").queued(in: queue), on: fixture.clock)
        try expectEnd(
            of: fixture.client.post("/orders").queued(in: queue), in: fixture, changing: credential,
            lines: ["GET /slow t0"])
        #expect(slow.isFinished)
        // The queue itself belongs to no account.
        _ = Recorder(fixture.client.get("/next").queued(in: queue), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.lines.dropFirst().first == "GET /next \(credential?.token ?? "-")")
    }

    @Test(arguments: changes)
    func aRequestThatWaitsForALimiterByHand(credential: Credential?) throws {
        let fixture = fixture()
        fixture.server.contents.withLock { $0.delays["/slow"] = .seconds(1) }
        let limiter = RequestLimiter(total: RequestLimits(concurrency: 1))
        let slow = Recorder(fixture.client.get("/slow").limited(by: limiter), on: fixture.clock)
        try expectEnd(
            of: fixture.client.response(.post("/orders")).limited(by: limiter), in: fixture,
            changing: credential,
            lines: ["GET /slow t0"])
        #expect(slow.isFinished)
    }

    @Test(arguments: changes)
    func aRequestThatWaitsForTheCacheStore(credential: Credential?) throws {
        let clock = VirtualScheduler(startingAt: LoginFixture.start)
        let store = LateStore(clock: clock)
        let fixture = LoginFixture(
            on: clock, credential: Self.first, cachePolicy: .time(.seconds(600)),
            configure: {
                $0.cache = ResponseCache(store: store)
            })
        try expectEnd(of: fixture.client.get("/goods"), in: fixture, changing: credential, lines: [])
        // Nothing has been stored for anybody.
        #expect(store.usage.entries == 0)
    }

    /// A lookup that finds an old response starts its renewal in the background.
    @Test func aRefreshAfterALateLookupIsNotSentAsAnotherAccount() throws {
        let clock = VirtualScheduler(startingAt: LoginFixture.start)
        let fixture = LoginFixture(
            on: clock, credential: Self.first, cachePolicy: .http,
            configure: {
                $0.cache = ResponseCache(store: LateStore(clock: clock))
            })
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=600"]
        fixture.server.contents.withLock { $0.answers["/goods"] = [.json("1", headers: fields)] }
        _ = fixture.get("/goods")
        try clock.advance(by: .seconds(10))
        let again = fixture.get("/goods")
        try clock.advance(by: .milliseconds(100))
        fixture.session.logIn(with: Self.second)
        try clock.run()
        #expect(again.values == ["1"])
        #expect(fixture.lines == ["GET /goods t0"])
    }

    @Test func requestsOfTwoAccountsAreNotJoined() throws {
        let fixture = fixture(cachePolicy: .time(.seconds(600)))
        fixture.server.contents.withLock { $0.delays["/goods"] = .seconds(1) }
        let own = fixture.get("/goods")
        fixture.session.logIn(with: Self.second)
        fixture.server.contents.withLock { $0.token = "B" }
        let other = fixture.get("/goods")
        try fixture.clock.run()
        // The response of a request that has been sent still arrives.
        #expect(own.isFinished && other.isFinished)
        #expect(fixture.lines == ["GET /goods t0", "GET /goods B"])
    }

    @Test(arguments: changes)
    func aDownloadThatWaitsForItsPath(credential: Credential?) throws {
        let clock = VirtualScheduler(startingAt: LoginFixture.start)
        let files = MemoryFileSystem(on: clock, latency: .seconds(1))
        let fixture = LoginFixture(on: clock, credential: Self.first, configure: { $0.files = files })
        try expectEnd(
            of: fixture.client.download(.get("/map"), to: "/d/map"), in: fixture, changing: credential,
            lines: [])
        #expect(files.paths.isEmpty)
    }

    // MARK: - Streams

    private func event(_ number: Int) -> ScriptedTransport.Reply {
        EventSourceFixture.answer("id: \(number)\ndata: \(number)\n\n")
    }

    @Test(arguments: changes)
    func anEventSourceThatWaitsToConnectAgain(credential: Credential?) throws {
        let fixture = fixture()
        fixture.server.contents.withLock { $0.answers["/events"] = [event(1), event(2)] }
        try expectEnd(
            of: fixture.client.events(.get("/events")), in: fixture, changing: credential,
            lines: ["GET /events t0"])
        #expect(fixture.clock.now < .seconds(3), "it ends at once")
        let next = Recorder(fixture.client.events(.get("/events")), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(100))
        #expect(next.values.count == 3)
        #expect(fixture.transport.requests.last?.headerFields[.init("Last-Event-ID")!] == nil)
    }

    /// Events that arrive after a logout are those of a user who has left.
    @Test(arguments: changes)
    func anOpenEventSource(credential: Credential?) throws {
        let fixture = fixture()
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        fixture.server.contents.withLock {
            $0.answers["/events"] = [
                .steps(.head(head), .wait(.seconds(5)), .chunk(Array("data: a\n\n".utf8)))
            ]
        }
        try expectEnd(
            of: fixture.client.events(.get("/events")).messages(), in: fixture, changing: credential,
            lines: ["GET /events t0"])
        #expect(fixture.clock.now < .seconds(5))
    }

    @Test(arguments: changes)
    func aResumedStream(credential: Credential?) throws {
        let fixture = fixture()
        let head = ResponseHead(status: .ok)
        fixture.server.contents.withLock {
            $0.answers["/lines"] = [
                .steps(.head(head), .chunk(Array("1\n".utf8)), .fail(NetworkError(.connectionLost, "cut")))
            ]
        }
        let stream: Observable<Int, NetworkError> = fixture.client.stream(
            .get("/lines"), resumption: .next { _ in .get("/lines") }, reading: { $0.jsonLines(Int.self) })
        try expectEnd(of: stream, in: fixture, changing: credential, lines: ["GET /lines t0"])
    }

    @Test func aStreamWithoutCredentialContinues() throws {
        let fixture = fixture()
        fixture.server.contents.withLock {
            $0.answers["/events"] = [event(1), event(2), .status(.noContent)]
        }
        let options = RequestOptions(usesSession: false)
        let recorder = Recorder(fixture.client.events(.get("/events", options: options)), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(100))
        fixture.session.logOut()
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines.count == 3)
    }

    @Test func aStreamOutlivesTheFirstLoginAndARenewal() throws {
        let fixture = LoginFixture(credential: nil)
        fixture.server.contents.withLock {
            $0.answers["/events"] = [
                .status(.unauthorized), event(1), .status(.unauthorized), event(2), .status(.noContent),
            ]
        }
        let recorder = Recorder(fixture.client.events(.get("/events")), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(
            fixture.lines == [
                "GET /events -", "POST /login -", "GET /events t1", "GET /events t1", "POST /login -",
                "GET /events t2", "GET /events t2",
            ])
    }

    // MARK: - WebSockets

    @Test(arguments: changes)
    func aQueuedMessageIsNotSentOnTheNextAccountsConnection(credential: Credential?) throws {
        let session = Session(credential: Self.first) { .never() }
        let fixture = WebSocketFixture(.webSocket(.end), .webSocket(.echo), session: session)
        let own = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .milliseconds(500))
        let queued = fixture.send("of anna")
        change(session, to: credential)
        #expect(own.failure?.code == .loginExpired)
        #expect(queued.failure?.code == .loginExpired)
        #expect(fixture.sink.state.value == .idle)
        let other = fixture.open(.reconnecting)
        let message = fixture.send("of bert")
        try fixture.clock.advance(by: .seconds(5))
        #expect(other.values == ["opened", "of bert"])
        #expect(message.isFinished)
        #expect(fixture.transport.exchanges.map(\.messages) == [[], [.text("of bert")]])
    }

    @Test(arguments: changes)
    func anOpenWebSocketEndsWithItsAccount(credential: Credential?) throws {
        let session = Session(credential: Self.first) { .never() }
        let fixture = WebSocketFixture(.webSocket(.echo), session: session)
        let own = fixture.open()
        try fixture.clock.advance(by: .milliseconds(500))
        change(session, to: credential)
        let late = fixture.send("late")
        try fixture.clock.advance(by: .seconds(10))
        #expect(own.failure?.code == .loginExpired)
        #expect(late.failure?.code == .webSocketClosed, "the sink belongs to no subscription")
        #expect(fixture.transport.exchanges.map(\.messages) == [[]])
        #expect(fixture.transport.exchanges[0].closeCode == .normalClosure)
    }

    /// The next account may open its WebSocket before the previous one has noticed: here inside one of its events.
    @Test func theNextAccountTakesTheSinkOver() throws {
        let session = Session(credential: Self.first) { .never() }
        let fixture = WebSocketFixture(
            .webSocket(.wait(.milliseconds(1)), .send(.text("change"))), .webSocket(.echo), session: session)
        let other = Box<Recorder<String, NetworkError>>()
        let queued = Box<Recorder<Void, NetworkError>>()
        let own = Recorder(
            fixture.client.webSocket("/live", sending: fixture.sink, settings: .reconnecting).texts()
                .handleEvents(onNext: { _ in
                    queued.value = fixture.send("of anna")
                    session.logIn(with: Self.second)
                    other.value = fixture.open(.reconnecting)
                    // The connection of anna is still open, and about to send what waits.
                    _ = fixture.send("first of bert")
                }), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(500))
        _ = fixture.send("of bert")
        try fixture.clock.advance(by: .seconds(5))
        #expect(own.failure?.code == .loginExpired)
        #expect(other.value?.values == ["opened", "first of bert", "of bert"])
        #expect(queued.value?.failure?.code == .loginExpired)
        #expect(
            fixture.transport.exchanges.map(\.messages) == [[], [.text("first of bert"), .text("of bert")]])
        #expect(fixture.sink.state.value == .open)
    }

    // MARK: - Lists

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
