import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

/// Control frames are never held back by a paused subscriber; data is, within a bound.
@Suite struct WebSocketPauseTests {
    @Test func aPausedSubscriberHoldsNoControlFrameBack() throws {
        let fixture = WebSocketFixture(
            .webSocket(.send(.text("a")), .ping([7]), .send(.text("b")), .close(.normalClosure)))
        let recorder = fixture.open()
        recorder.pause()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values.count <= 1 && recorder.completion == nil)
        #expect(fixture.transport.exchanges[0].closeCode == .normalClosure)
        #expect(fixture.transport.runningCount == 0)
        recorder.resume()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a", "ping [7]", "b", "closing 1000 "])
        #expect(recorder.isFinished)
    }

    /// The pings are larger than the backlog.
    @Test func pingsAloneNeverStopTheReading() throws {
        let pings = [ScriptedWebSocket.Step](
            repeating: .ping([UInt8](repeating: 7, count: 125)), count: 10_000)
        let fixture = WebSocketFixture(
            .webSocket(ScriptedWebSocket(pings + [.send(.text("last")), .close(.normalClosure)])))
        let recorder = fixture.open()
        recorder.pause()
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.transport.exchanges[0].closeCode == .normalClosure)
        recorder.resume()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values.suffix(2) == ["last", "closing 1000 "])
        #expect((1000..<10_000).contains(recorder.values.count))
    }

    @Test func messagesStopTheReadingFromOneMebibyteOn() throws {
        let messages = (0..<20).map { number in
            ScriptedWebSocket.Step.send(
                .text("\(number) " + String(repeating: "x", count: 64 << 10)))
        }
        let fixture = WebSocketFixture(
            .webSocket(ScriptedWebSocket(messages + [.ping([]), .close(.normalClosure)])))
        let recorder = fixture.open()
        recorder.pause()
        // Nothing is read, so silence means nothing.
        try fixture.clock.advance(by: .seconds(600))
        #expect(fixture.transport.exchanges[0].closeCode == nil)
        #expect(recorder.completion == nil)
        recorder.resume()
        try fixture.clock.advance(by: .seconds(1))
        #expect(
            recorder.values.map { $0.prefix { $0 != " " } }
                == ["opened"] + (0..<20).map { "\($0)" } + ["ping", "closing"])
        #expect(recorder.isFinished)
    }

    @Test func aLossIsNoticedWhileTheSubscriberIsPaused() throws {
        let fixture = WebSocketFixture(.webSocket(.send(.text("a")), .ignore))
        let recorder = fixture.open()
        recorder.pause()
        try fixture.clock.advance(by: .seconds(100))
        #expect(fixture.transport.runningCount == 0)
        #expect(recorder.completion == nil)
        recorder.resume()
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == ["opened", "a"])
        #expect(recorder.failure?.code == .idleTimeout)
    }

    @Test func aSubscriberThatLeavesWhilePausedGetsNothing() throws {
        let fixture = WebSocketFixture(
            .webSocket(.send(.text("a")), .close(.normalClosure)), .webSocket(.echo))
        let recorder = fixture.open()
        recorder.pause()
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        recorder.resume()
        let next = fixture.open()
        try fixture.clock.advance(by: .seconds(1))
        #expect(!recorder.values.contains("a") && recorder.completion == nil)
        #expect(next.values == ["opened"])
    }

    /// The server sends more pings than replies may wait, at 1 s, and takes no reply: nothing more is read, whether the
    /// subscriber leaves before that or after it.
    @Test(arguments: [Duration.milliseconds(500), .milliseconds(1500)])
    func aServerThatReadsNothingIsNotReadEither(leavesAt time: Duration) throws {
        let ping: [UInt8] = [0x89, 125] + [UInt8](repeating: 7, count: 125)
        let pings = [UInt8](repeatElement(ping, count: 600).joined())
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            guard let fields = try? WebSocketHandshake.answer(to: request.headerFields).fields else {
                return .status(.badRequest)
            }
            return .steps(
                .head(ResponseHead(status: .switchingProtocols, headerFields: fields)), .wait(.seconds(1)),
                .chunk(pings), .wait(.seconds(1)), .chunk(pings), .finish)
        }
        let client = Client(baseURL: "http://shop.test", transport: transport)
        let recorder = Recorder(client.webSocket("/live"), on: clock)
        try clock.advance(by: time)
        recorder.cancel()
        try clock.advance(by: .seconds(4))
        #expect(transport.exchanges[0].outcome == .running)
        try clock.advance(by: .seconds(2))
        #expect(transport.exchanges[0].outcome == .cancelled)
    }
}
