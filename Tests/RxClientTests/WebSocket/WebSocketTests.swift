import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

@Suite struct WebSocketTests {
    @Test func opensReceivesAndFinishes() throws {
        let fixture = WebSocketFixture(
            .webSocket(
                .send(.text("a")), .wait(.seconds(1)), .send(.binary([1, 2])), .ping([7]),
                .close(.normalClosure, reason: "done")))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(2))
        #expect(recorder.values == ["opened", "a", "[1, 2]", "ping [7]", "closing 1000 done"])
        #expect(recorder.isFinished)
        let request = try #require(fixture.transport.requests.first)
        #expect(request.method == .get)
        #expect(request.headerFields[.upgrade] == "websocket")
        #expect(request.headerFields[HTTPField.Name("Sec-WebSocket-Version")!] == "13")
        #expect(fixture.transport.runningCount == 0)
    }

    @Test func nothingIsSentBeforeTheSubscription() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        _ = fixture.client.webSocket("/live")
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.transport.exchanges.isEmpty)
    }

    @Test func messagesGoBothWaysInOrder() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let early = fixture.send("early")
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        let late = [fixture.send("b"), fixture.send("c")]
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "early", "b", "c"])
        #expect(early.isFinished && late.allSatisfy(\.isFinished))
        #expect(fixture.transport.exchanges[0].messages == ["early", "b", "c"].map { .text($0) })
    }

    @Test func cancellingClosesWithACloseFrame() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.transport.exchanges[0].outcome == .finished)
        #expect(fixture.transport.exchanges[0].closeCode == .normalClosure)
        #expect(recorder.completion == nil)
    }

    /// A server that never answers the close frame.
    @Test func closingHasATimeLimit() throws {
        let fixture = WebSocketFixture(.webSocket(.ignore))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(4))
        #expect(fixture.transport.runningCount == 1)
        try fixture.clock.advance(by: .seconds(2))
        #expect(fixture.transport.runningCount == 0)
    }

    @Test func theSinkCloses() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let recorder = fixture.open(.reconnecting)
        try fixture.clock.advance(by: .seconds(1))
        let last = fixture.send("last")
        #expect(fixture.sink.state.value == .open)
        let closing = Recorder(fixture.sink.close(.goingAway, reason: "bye"), on: fixture.clock)
        let after = fixture.send("after")
        try fixture.clock.advance(by: .seconds(10))
        #expect(last.isFinished && closing.isFinished)
        #expect(after.failure?.code == .webSocketClosed)
        #expect(recorder.values == ["opened", "last", "closing 1001 "])
        #expect(recorder.isFinished)
        #expect(fixture.transport.exchanges.count == 1)
    }

    @Test(
        arguments: [(1000, true), (1001, true), (1011, false), (1008, false), (4000, false)]
            as [(UInt16, Bool)])
    func theCodeDecidesAboutTheEnd(code: UInt16, finishes: Bool) throws {
        let fixture = WebSocketFixture(
            .webSocket(.close(WebSocketCloseCode(rawValue: code), reason: "canary")))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.isFinished == finishes)
        if !finishes {
            #expect(recorder.failure?.code == .webSocketClosed)
            #expect(recorder.failure?.closeCode == Int(code))
            #expect(recorder.failure?.message.contains("canary") == true)
            #expect(recorder.failure?.shown.contains("canary") == false)
        }
    }

    /// The error of a handshake shows no text of the server.
    @Test(
        arguments: [
            [.upgrade: "canary"], [.upgrade: "websocket", .connection: "canary"],
        ] as [HTTPFields])
    func refusedHandshakes(fields: HTTPFields) throws {
        let head = ResponseHead(status: .switchingProtocols, headerFields: fields)
        let fixture = WebSocketFixture(.steps(.head(head), .wait(.seconds(9))))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(recorder.failure?.shown.contains("canary") == false)
    }

    @Test func anEndWithoutACloseFrameIsALoss() throws {
        for step in [ScriptedWebSocket.Step.end, .fail(NetworkError(.connectionLost, "reset"))] {
            let fixture = WebSocketFixture(.webSocket(step))
            let recorder = fixture.open()
            try fixture.clock.advance(by: .seconds(1))
            #expect(recorder.failure?.code == .connectionLost)
            #expect(recorder.failure?.closeCode == 1006)
        }
    }

    /// A masked frame, a reserved bit, an unknown opcode, and a text that is not UTF-8.
    @Test(
        arguments: [
            ([0x81, 0x81, 1, 2, 3, 4, 5], 1002), ([0xC1, 0x01, 0x61], 1002), ([0x83, 0x00], 1002),
            ([0x81, 0x01, 0xFF], 1007),
        ] as [([UInt8], Int)])
    func violationsFailWithTheCodeThatIsSent(bytes: [UInt8], code: Int) throws {
        let fixture = WebSocketFixture(.webSocket(.bytes(bytes)))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.failure?.code == .webSocketProtocol)
        #expect(recorder.failure?.closeCode == code)
        #expect(fixture.transport.exchanges[0].closeCode?.rawValue == UInt16(code))
        #expect(fixture.transport.runningCount == 0)
    }

    @Test func aServerThatDoesNotAgree() throws {
        for (reply, code) in [
            (ScriptedTransport.Reply.status(.notFound), NetworkError.Code.status),
            (.status(.ok), .invalidResponse),
            (.steps(.head(ResponseHead(status: .switchingProtocols)), .stall), .invalidResponse),
        ] {
            let fixture = WebSocketFixture(reply)
            let recorder = fixture.open()
            try fixture.clock.advance(by: .seconds(1))
            #expect(recorder.failure?.code == code)
            #expect(fixture.transport.runningCount == 0)
        }
    }

    @Test func subprotocolAndCompressionAreAgreedOn() throws {
        let fixture = WebSocketFixture(
            .webSocket(
                ScriptedWebSocket([.echo], subprotocols: ["v2", "v1"], compression: .permessageDeflate)))
        var settings = WebSocketSettings()
        settings.subprotocols = ["v1", "v2"]
        let recorder = fixture.open(settings)
        let text = String(repeating: "all the same ", count: 100)
        _ = fixture.send(text)
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened v2 compressed", text])
    }

    @Test func aPauseHoldsMessagesBack() throws {
        let fixture = WebSocketFixture(
            .webSocket(.send(.text("a")), .send(.text("b")), .close(.normalClosure)))
        let recorder = fixture.open()
        recorder.pause()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values.count <= 1)
        recorder.resume()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a", "b", "closing 1000 "])
        #expect(recorder.isFinished)
    }

    @Test func aSilentServerIsAskedAndThenLost() throws {
        let fixture = WebSocketFixture(.webSocket(.ignore))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(49))
        #expect(recorder.completion == nil)
        try fixture.clock.advance(by: .seconds(2))
        #expect(recorder.failure?.code == .idleTimeout)
        let answering = WebSocketFixture(.webSocket(.echo))
        let open = answering.open()
        try answering.clock.advance(by: .seconds(600))
        #expect(open.completion == nil)
        #expect(open.values.filter { $0 == "pong []" }.count >= 9)
    }

    @Test func theSinkIsFreeAtTheEnd() throws {
        let fixture = WebSocketFixture(
            .webSocket(.receive, .close(WebSocketCloseCode(rawValue: 4000), reason: "moved")),
            .webSocket(.echo))
        let state = Box<WebSocketState>()
        let second = Box<Recorder<String, NetworkError>>()
        fixture.client.webSocket("/live", sending: fixture.sink).subscribe(onFailure: { _ in
            state.value = fixture.sink.state.value
            second.value = fixture.open()
        })
        let sent = fixture.send("a")
        try fixture.clock.advance(by: .seconds(1))
        let echoed = fixture.send("b")
        try fixture.clock.advance(by: .seconds(1))
        #expect(state.value == .idle)
        #expect(sent.isFinished && echoed.isFinished)
        #expect(second.value?.values == ["opened", "b"])
    }

    /// The server of the former WebSocket still sends when the next one is open.
    @Test func theSinkSendsOnTheNewWebSocketOnly() throws {
        let flood =
            [ScriptedWebSocket.Step.ignore]
            + (1...20).flatMap {
                [ScriptedWebSocket.Step.wait(.milliseconds(100)), .send(.text("\($0)"))]
            }
        let fixture = WebSocketFixture(.webSocket(ScriptedWebSocket(flood)), .webSocket(.echo))
        let former = fixture.open()
        try fixture.clock.advance(by: .milliseconds(150))
        former.cancel()
        let recorder = fixture.open()
        for number in 0..<5 {
            let sent = fixture.send("message \(number)")
            try fixture.clock.advance(by: .milliseconds(90))
            #expect(sent.isFinished)
        }
        #expect(recorder.values == ["opened"] + (0..<5).map { "message \($0)" })
    }

    /// A message that has failed because its WebSocket ended, and is sent again at once.
    @Test func aMessageIsSentAgainOnTheNextWebSocket() throws {
        let fixture = WebSocketFixture(.status(.forbidden), .webSocket(.echo))
        let second = Box<Recorder<String, NetworkError>>()
        let again = Box<Recorder<Void, NetworkError>>()
        fixture.sink.send("a").subscribe(onFailure: { _ in
            second.value = fixture.open()
            again.value = fixture.send("a")
        })
        let first = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(first.failure?.code == .status)
        #expect(again.value?.isFinished == true)
        #expect(second.value?.values == ["opened", "a"])
    }

    @Test func afterTheEndMessagesFail() throws {
        let fixture = WebSocketFixture(.webSocket(.close(.normalClosure)), .webSocket(.echo))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.isFinished)
        #expect(fixture.send("a").failure?.code == .webSocketClosed)
        #expect(Recorder(fixture.sink.close(), on: fixture.clock).isFinished)
        let next = fixture.open()
        #expect(fixture.send("b").completion == nil)
        try fixture.clock.advance(by: .seconds(1))
        #expect(next.values == ["opened", "b"])
    }

    @Test func closingBeforeTheConnection() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        #expect(Recorder(fixture.sink.close(), on: fixture.clock).isFinished)
        let message = fixture.send("a")
        let closing = Recorder(fixture.sink.close(), on: fixture.clock)
        #expect(fixture.send("b").failure?.code == .webSocketClosed)
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(message.isFinished && closing.isFinished && recorder.isFinished)
        #expect(fixture.transport.exchanges[0].messages == [.text("a")])
    }

    @Test func aCloseThatIsWithdrawnClosesNothing() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        _ = fixture.send("a")
        #expect(
            Recorder(fixture.sink.close(.abnormalClosure), on: fixture.clock).failure?.code
                == .invalidParameters)
        Recorder(fixture.sink.close(), on: fixture.clock).cancel()
        let recorder = fixture.open()
        _ = fixture.send("b")
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a", "b"])
        #expect(recorder.completion == nil)
    }

    @Test func theSinkClosesWithoutACode() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        let refused = Recorder(fixture.sink.close(nil, reason: "bye"), on: fixture.clock)
        #expect(refused.failure?.code == .invalidParameters)
        #expect(Recorder(fixture.sink.close(nil), on: fixture.clock).isFinished)
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.isFinished)
        #expect(fixture.transport.exchanges[0].closeCode == .noStatus)
    }

    /// The status and the fields of the response decide, whatever its body.
    @Test func theBodyOfARefusalIsLimited() throws {
        let head = ResponseHead(status: .serviceUnavailable, headerFields: [.retryAfter: "7"])
        let chunk = ScriptedTransport.Step.chunk([UInt8](repeating: 7, count: 700_000))
        let reply = ScriptedTransport.Reply.steps(.head(head), chunk, chunk, .stall)
        let fixture = WebSocketFixture(reply, reply)
        let recorder = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.body.count == 1 << 20)
        #expect(fixture.transport.runningCount == 0)
        let events = Recorder(fixture.client.events(.get("/events")), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(events.failure?.code == .status)
        #expect(events.failure?.body.count == 1 << 20)
        #expect(fixture.transport.runningCount == 0)
    }

    /// RFC 6455 §4.1; the second request goes to another host by its redirect.
    @Test func handshakesToOneHostFollowOneAnother() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            switch request.url.path() {
            case "/slow": .stall
            case "/moved": .status(.found, headers: [.location: "http://other.test/slow"])
            default: .webSocket(.echo)
            }
        }
        let client = Client(baseURL: "http://shop.test", transport: transport)
        @discardableResult func open(_ path: String) -> Recorder<WebSocketEvent, NetworkError> {
            let options = RequestOptions(timeouts: Timeouts(attempt: .seconds(1)))
            return Recorder(client.webSocket(path, options: options), on: clock)
        }
        open("/moved")
        try clock.advance(by: .milliseconds(500))
        let slow = open("/slow")
        let waiting = open("/waiting")
        let left = open("/left")
        let last = open("/last")
        try clock.advance(by: .milliseconds(100))
        left.cancel()
        #expect(transport.requests.map { $0.url.path() } == ["/moved", "/slow", "/slow"])
        slow.cancel()
        try clock.advance(by: .milliseconds(100))
        #expect(waiting.values.count == 1 && last.values.count == 1)
        #expect(
            transport.requests.map { $0.url.path() } == ["/moved", "/slow", "/slow", "/waiting", "/last"])
    }

    /// The sink's messages go out before its close frame, even if the subscriber leaves.
    @Test func cancellingAfterCloseStillCloses() throws {
        let fixture = WebSocketFixture(.webSocket(.wait(.seconds(1)), .receive, .echo))
        let recorder = fixture.open()
        try fixture.clock.advance(by: .milliseconds(500))
        _ = fixture.send("last")
        _ = Recorder(fixture.sink.close(.goingAway), on: fixture.clock)
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(3))
        #expect(fixture.transport.exchanges[0].messages == [.text("last")])
        #expect(fixture.transport.exchanges[0].closeCode == .goingAway)
    }
}

extension WebSocketSettings {
    /// Connects again after exactly 1, 2, 4 … seconds.
    static var reconnecting: WebSocketSettings {
        var settings = WebSocketSettings()
        settings.reconnection = .always(.exponential(base: .seconds(1), cap: .seconds(8)))
        return settings
    }
}
