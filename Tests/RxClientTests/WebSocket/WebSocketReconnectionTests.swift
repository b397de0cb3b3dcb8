import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

@Suite struct WebSocketReconnectionTests {
    @Test func connectsAgainAndSendsWhatWaited() throws {
        let bench = WebSocketBench(
            .webSocket(.receive, .end), .failure(.connect), .webSocket(.close(.serviceRestart)),
            .webSocket(.echo))
        var settings = WebSocketSettings.reconnecting
        settings.reconnection.resumption = { _ in [.text("subscribe")] }
        let recorder = bench.open(settings)
        let first = bench.send("first")
        try bench.clock.advance(by: .milliseconds(500))
        #expect(first.isFinished)
        #expect(bench.sink.state.value == .waiting(.seconds(1)))
        let waiting = bench.send("waited")
        try bench.clock.advance(by: .seconds(10))
        #expect(
            recorder.values == [
                "opened", "again in 1000.0: connectionLost", "again in 2000.0: connect", "opened",
                "closing 1012 ", "again in 4000.0: webSocketClosed", "opened", "subscribe", "waited",
            ])
        #expect(waiting.isFinished)
        #expect(bench.sink.state.value == .open)
        #expect(bench.transport.exchanges.map(\.startedAt) == [.zero, .seconds(1), .seconds(3), .seconds(7)])
    }

    /// The sink's message is the subscription of the first connection.
    @Test func theFirstConnectionIsTheFirstThatOpens() throws {
        let bench = WebSocketBench(
            .failure(.connect), .status(.serviceUnavailable), .webSocket(.receive, .close(.serviceRestart)),
            .webSocket(.echo))
        var settings = WebSocketSettings.reconnecting
        settings.reconnection.resumption = { _ in [.text("subscribe")] }
        let recorder = bench.open(settings)
        _ = bench.send("subscribe")
        try bench.clock.advance(by: .seconds(20))
        #expect(recorder.completion == nil)
        #expect(
            bench.transport.exchanges.map(\.messages) == [[], [], [.text("subscribe")], [.text("subscribe")]])
    }

    @Test(arguments: [WebSocketCloseCode.serviceRestart, .tryAgainLater])
    func aServerThatClosesAtOnceMeetsGrowingWaits(code: WebSocketCloseCode) throws {
        let bench = WebSocketBench(.webSocket(.close(code)))
        _ = bench.open(.reconnecting)
        try bench.clock.advance(by: .seconds(30))
        #expect(bench.transport.exchanges.map(\.startedAt) == [0, 1, 3, 7, 15, 23].map(Duration.seconds))
    }

    /// A quiet connection shows by its pongs that it has lasted.
    @Test func whatArrivesOnAConnectionResetsTheWaits() throws {
        for steps in [
            [ScriptedWebSocket.Step.send(.text("a"))], [.send(.binary([1]))], [.ping([])],
            [.wait(.seconds(100))],
        ] {
            let bench = WebSocketBench(.webSocket(ScriptedWebSocket(steps + [.close(.serviceRestart)])))
            let recorder = bench.open(.reconnecting)
            try bench.clock.advance(by: .seconds(250))
            let waits = recorder.values.filter { $0.hasPrefix("again") }
            #expect(waits.count >= 2 && Set(waits) == ["again in 1000.0: webSocketClosed"], "\(steps)")
        }
    }

    @Test(arguments: ["31536000", "Thu, 01 Jan 2099 00:00:00 GMT"])
    func aServerIsNotObeyedForLongerThanADay(wait: String) throws {
        let bench = WebSocketBench(
            .status(.serviceUnavailable, headers: [.retryAfter: wait]), .webSocket(.echo))
        let recorder = bench.open(.reconnecting)
        try bench.clock.advance(by: .seconds(86_401))
        #expect(recorder.values == ["again in 86400000.0: status", "opened"])
    }

    @Test(arguments: [1000, 1002, 1008, 4000] as [UInt16])
    func otherCodesAreFinal(code: UInt16) throws {
        let bench = WebSocketBench(.webSocket(.close(WebSocketCloseCode(rawValue: code))))
        let recorder = bench.open(.reconnecting)
        try bench.clock.advance(by: .seconds(10))
        #expect(bench.transport.exchanges.count == 1)
        #expect(recorder.completion != nil)
        #expect(bench.sink.state.value == .idle)
    }

    @Test func aRefusalIsFinalUnlessItMayPass() throws {
        let passing = WebSocketBench(.status(.serviceUnavailable), .webSocket(.echo))
        let recorder = passing.open(.reconnecting)
        try passing.clock.advance(by: .seconds(2))
        #expect(recorder.values == ["again in 1000.0: status", "opened"])
        let final = WebSocketBench(.status(.forbidden), .webSocket(.echo))
        let refused = final.open(.reconnecting)
        try final.clock.advance(by: .seconds(2))
        #expect(refused.failure?.code == .status)
    }

    @Test func theServerNamesTheLeastWait() throws {
        let bench = WebSocketBench(
            .status(.serviceUnavailable, headers: [.retryAfter: "7"]), .webSocket(.echo))
        let recorder = bench.open(.reconnecting)
        try bench.clock.advance(by: .seconds(8))
        #expect(recorder.values == ["again in 7000.0: status", "opened"])
    }

    @Test func aHandshakeThatTakesTooLongIsTriedAgain() throws {
        let limits = [
            Timeouts(attempt: .seconds(1)), Timeouts(total: .seconds(1)),
        ]
        for timeouts in limits {
            let bench = WebSocketBench(.stall, .webSocket(.echo))
            let endpoint = InlineEndpoint(.get, "/live", options: RequestOptions(timeouts: timeouts))
            let recorder = Recorder(
                bench.client.webSocket(endpoint, settings: .reconnecting).map { event in
                    if case .opened = event { "opened" } else { "again" }
                }, on: bench.clock)
            try bench.clock.advance(by: .seconds(3))
            #expect(recorder.values == ["again", "opened"])
        }
    }

    /// The server cuts the connection during the TLS handshake, or its certificate is refused.
    @Test func onlyARefusedCertificateIsFinal() throws {
        for failure in [nil, TLSFailure.expired] {
            var error = NetworkError(.tls, "the handshake failed")
            error.tlsFailure = failure
            let bench = WebSocketBench(.steps(.fail(error)), .webSocket(.echo))
            let recorder = bench.open(.reconnecting)
            try bench.clock.advance(by: .seconds(3))
            #expect(recorder.values == (failure == nil ? ["again in 1000.0: tls", "opened"] : []))
            #expect(recorder.failure?.code == (failure == nil ? nil : .tls))
        }
    }

    @Test func closingWhileThereIsNoConnectionEnds() throws {
        let bench = WebSocketBench(.failure(.connect), .webSocket(.echo))
        let recorder = bench.open(.reconnecting)
        try bench.clock.advance(by: .milliseconds(500))
        #expect(Recorder(bench.sink.close(), on: bench.clock).isFinished)
        try bench.clock.advance(by: .seconds(5))
        #expect(recorder.values == ["again in 1000.0: connect"])
        #expect(recorder.isFinished)
        #expect(bench.sink.state.value == .idle)
        #expect(bench.transport.exchanges.count == 1)
    }

    @Test func aFullOutboxRefuses() throws {
        let bench = WebSocketBench(.webSocket(.echo), limit: 2)
        let sent = ["a", "b", "c"].map { bench.send($0) }
        #expect(sent.map { $0.failure?.code } == [nil, nil, .outboxFull])
        let recorder = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a", "b"])
    }

    @Test func aFullOutboxMayDropTheOldest() throws {
        let bench = WebSocketBench(.webSocket(.echo), limit: 2, overflow: .dropOldest)
        let sent = ["a", "b", "c"].map { bench.send($0) }
        #expect(sent.map { $0.failure?.code } == [.outboxFull, nil, nil])
        let recorder = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "b", "c"])
    }

    @Test func aWaitingMessageCanBeWithdrawn() throws {
        let bench = WebSocketBench(.webSocket(.echo), limit: 1)
        bench.send("a").cancel()
        _ = bench.send("b")
        let recorder = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "b"])
    }

    @Test func messagesThatNeverWentOutFail() throws {
        let bench = WebSocketBench(.status(.forbidden))
        let sent = bench.send("a")
        _ = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(sent.failure?.code == .webSocketClosed)
    }

    @Test func aSinkSendsOnOneWebSocketAtATime() throws {
        let bench = WebSocketBench(.webSocket(.echo))
        let first = bench.open()
        let second = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(second.failure?.code == .invalidConfiguration)
        first.cancel()
        let third = bench.open()
        try bench.clock.advance(by: .seconds(1))
        #expect(third.values == ["opened"])
    }

    @Test func cancellingWhileItWaitsEndsIt() throws {
        let bench = WebSocketBench(.failure(.connect))
        let recorder = bench.open(.reconnecting)
        try bench.clock.advance(by: .milliseconds(500))
        recorder.cancel()
        try bench.clock.advance(by: .seconds(20))
        #expect(bench.transport.exchanges.count == 1)
        #expect(bench.sink.state.value == .idle)
    }
}
