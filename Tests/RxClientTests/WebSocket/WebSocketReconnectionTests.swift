import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

@Suite struct WebSocketReconnectionTests {
    @Test func connectsAgainAndSendsWhatWaited() throws {
        let fixture = WebSocketFixture(
            .webSocket(.receive, .end), .failure(.connect), .webSocket(.close(.serviceRestart)),
            .webSocket(.echo))
        var settings = WebSocketSettings.reconnecting
        settings.reconnection.resumption = { _ in [.text("subscribe")] }
        let recorder = fixture.open(settings)
        let first = fixture.send("first")
        try fixture.clock.advance(by: .milliseconds(500))
        #expect(first.isFinished)
        #expect(fixture.sink.state.value == .waiting(.seconds(1)))
        let waiting = fixture.send("waited")
        try fixture.clock.advance(by: .seconds(10))
        #expect(
            recorder.values == [
                "opened", "again in 1000.0: connectionLost", "again in 2000.0: connect", "opened",
                "closing 1012 ", "again in 4000.0: webSocketClosed", "opened", "subscribe", "waited",
            ])
        #expect(waiting.isFinished)
        #expect(fixture.sink.state.value == .open)
        #expect(
            fixture.transport.exchanges.map(\.startedAt) == [.zero, .seconds(1), .seconds(3), .seconds(7)])
    }

    /// The sink's message is the subscription of the first connection.
    @Test func theFirstConnectionIsTheFirstThatOpens() throws {
        let fixture = WebSocketFixture(
            .failure(.connect), .status(.serviceUnavailable), .webSocket(.receive, .close(.serviceRestart)),
            .webSocket(.echo))
        var settings = WebSocketSettings.reconnecting
        settings.reconnection.resumption = { _ in [.text("subscribe")] }
        let recorder = fixture.open(settings)
        _ = fixture.send("subscribe")
        try fixture.clock.advance(by: .seconds(20))
        #expect(recorder.completion == nil)
        #expect(
            fixture.transport.exchanges.map(\.messages) == [
                [], [], [.text("subscribe")], [.text("subscribe")],
            ])
    }

    @Test(arguments: [WebSocketCloseCode.serviceRestart, .tryAgainLater])
    func aServerThatClosesAtOnceMeetsGrowingWaits(code: WebSocketCloseCode) throws {
        let fixture = WebSocketFixture(.webSocket(.close(code)))
        _ = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .seconds(30))
        #expect(fixture.transport.exchanges.map(\.startedAt) == [0, 1, 3, 7, 15, 23].map(Duration.seconds))
    }

    /// A quiet connection shows by its pongs that it has lasted.
    @Test func whatArrivesOnAConnectionResetsTheWaits() throws {
        for steps in [
            [ScriptedWebSocket.Step.send(.text("a"))], [.send(.binary([1]))], [.ping([])],
            [.wait(.seconds(100))],
        ] {
            let fixture = WebSocketFixture(.webSocket(ScriptedWebSocket(steps + [.close(.serviceRestart)])))
            let recorder = fixture.open(.reconnecting)
            try fixture.clock.advance(by: .seconds(250))
            let waits = recorder.values.filter { $0.hasPrefix("again") }
            #expect(waits.count >= 2 && Set(waits) == ["again in 1000.0: webSocketClosed"], "\(steps)")
        }
    }

    @Test(arguments: ["31536000", "Thu, 01 Jan 2099 00:00:00 GMT"])
    func aServerIsNotObeyedForLongerThanADay(wait: String) throws {
        let fixture = WebSocketFixture(
            .status(.serviceUnavailable, headers: [.retryAfter: wait]), .webSocket(.echo))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .seconds(86_401))
        #expect(recorder.values == ["again in 86400000.0: status", "opened"])
    }

    @Test(arguments: [1000, 1002, 1008, 4000] as [UInt16])
    func otherCodesAreFinal(code: UInt16) throws {
        let fixture = WebSocketFixture(.webSocket(.close(WebSocketCloseCode(rawValue: code))))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.transport.exchanges.count == 1)
        #expect(recorder.completion != nil)
        #expect(fixture.sink.state.value == .idle)
    }

    @Test func aRefusalIsFinalUnlessItMayPass() throws {
        let passing = WebSocketFixture(.status(.serviceUnavailable), .webSocket(.echo))
        let recorder = passing.open(.reconnecting)
        try passing.clock.advance(by: .seconds(2))
        #expect(recorder.values == ["again in 1000.0: status", "opened"])
        let final = WebSocketFixture(.status(.forbidden), .webSocket(.echo))
        let refused = final.open(.reconnecting)
        try final.clock.advance(by: .seconds(2))
        #expect(refused.failure?.code == .status)
    }

    @Test func theServerNamesTheLeastWait() throws {
        let fixture = WebSocketFixture(
            .status(.serviceUnavailable, headers: [.retryAfter: "7"]), .webSocket(.echo))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .seconds(8))
        #expect(recorder.values == ["again in 7000.0: status", "opened"])
    }

    @Test func aHandshakeThatTakesTooLongIsTriedAgain() throws {
        let limits = [
            Timeouts(attempt: .seconds(1)), Timeouts(total: .seconds(1)),
        ]
        for timeouts in limits {
            let fixture = WebSocketFixture(.stall, .webSocket(.echo))
            let endpoint = InlineEndpoint(.get, "/live", options: RequestOptions(timeouts: timeouts))
            let recorder = Recorder(
                fixture.client.webSocket(endpoint, settings: .reconnecting).map { event in
                    if case .opened = event { "opened" } else { "again" }
                }, on: fixture.clock)
            try fixture.clock.advance(by: .seconds(3))
            #expect(recorder.values == ["again", "opened"])
        }
    }

    /// The server cuts the connection during the TLS handshake, or its certificate is refused.
    @Test func onlyARefusedCertificateIsFinal() throws {
        for failure in [nil, NetworkError.TLSFailure.expired] {
            var error = NetworkError(.tls, "the handshake failed")
            error.tlsFailure = failure
            let fixture = WebSocketFixture(.steps(.fail(error)), .webSocket(.echo))
            let recorder = fixture.open(.reconnecting)
            try fixture.clock.advance(by: .seconds(3))
            #expect(recorder.values == (failure == nil ? ["again in 1000.0: tls", "opened"] : []))
            #expect(recorder.failure?.code == (failure == nil ? nil : .tls))
        }
    }

    @Test func closingWhileThereIsNoConnectionEnds() throws {
        let fixture = WebSocketFixture(.failure(.connect), .webSocket(.echo))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .milliseconds(500))
        #expect(Recorder(fixture.sink.close(), on: fixture.clock).isFinished)
        try fixture.clock.advance(by: .seconds(5))
        #expect(recorder.values == ["again in 1000.0: connect"])
        #expect(recorder.isFinished)
        #expect(fixture.sink.state.value == .idle)
        #expect(fixture.transport.exchanges.count == 1)
    }

    @Test func aFullOutboxRefuses() throws {
        let fixture = WebSocketFixture(.webSocket(.echo), limit: 2)
        let sent = ["a", "b", "c"].map { fixture.send($0) }
        #expect(sent.map { $0.failure?.code } == [nil, nil, .outboxFull])
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a", "b"])
    }

    @Test func aFullOutboxMayDropTheOldest() throws {
        let fixture = WebSocketFixture(.webSocket(.echo), limit: 2, dropsOldest: true)
        let sent = ["a", "b", "c"].map { fixture.send($0) }
        #expect(sent.map { $0.failure?.code } == [.outboxFull, nil, nil])
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "b", "c"])
    }

    @Test func aWaitingMessageCanBeWithdrawn() throws {
        let fixture = WebSocketFixture(.webSocket(.echo), limit: 1)
        fixture.send("a").cancel()
        _ = fixture.send("b")
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "b"])
    }

    @Test func messagesThatNeverWentOutFail() throws {
        let fixture = WebSocketFixture(.status(.forbidden))
        let sent = fixture.send("a")
        _ = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(sent.failure?.code == .webSocketClosed)
    }

    @Test func aSinkSendsOnOneWebSocketAtATime() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let first = fixture.open()
        let second = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(second.failure?.code == .invalidConfiguration)
        first.cancel()
        let third = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(third.values == ["opened"])
    }

    @Test func cancellingWhileItWaitsEndsIt() throws {
        let fixture = WebSocketFixture(.failure(.connect))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .milliseconds(500))
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(20))
        #expect(fixture.transport.exchanges.count == 1)
        #expect(fixture.sink.state.value == .idle)
    }
}
