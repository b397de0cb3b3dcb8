import FoundationEssentials
import HTTPTypes
import RxClient
import RxHAR
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

#if Logging
import InMemoryLogging
import Logging
#endif

/// Tokens travel in subprotocols, so no output shows these.
@Suite struct WebSocketSecretTests {
    private static let canary = "s3cr3t"

    /// A subprotocol that the server takes, one that cannot be offered, and one in a field that the app sets,
    /// which the client does not count among the offered ones.
    @Test(
        arguments: [
            (["s3cr3t"], [:], nil), (["s3cr3t=="], [:], .invalidHeader),
            ([], ["Sec-WebSocket-Protocol": "s3cr3t=="], .invalidResponse),
        ] as [([String], [String: String], NetworkError.Code?)])
    func subprotocolsAreShownNowhere(
        offered: [String], fields: [String: String], code: NetworkError.Code?
    ) throws {
        let fixture = WebSocketFixture(
            .webSocket(
                ScriptedWebSocket([.close(.normalClosure)], subprotocols: ["s3cr3t", "s3cr3t=="])))
        let recording = HARRecording(of: fixture.client.traffic, bodyLimit: 1000)
        let traffic = Recorder(fixture.client.traffic, on: fixture.clock)
        #if Logging
        let store = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = .trace
        var style = TrafficLog()
        style.showsHeaders = true
        fixture.client.traffic.log(to: logger, as: style)
        #endif

        var settings = WebSocketSettings()
        settings.subprotocols = offered
        let recorder = Recorder(
            fixture.client.webSocket("/live", headers: Headers(fields), settings: settings), on: fixture.clock
        )
        try fixture.clock.run()
        #expect(recorder.failure?.code == code)
        let wire = fixture.transport.requests.map { $0.headerFields[.secWebSocketProtocol] ?? "" }
        #expect(wire.contains { $0.contains(Self.canary) } == (code != .invalidHeader))

        var outputs = [String(decoding: try recording.archive.encoded(), as: UTF8.self)]
        outputs += fixture.transport.requests.flatMap { ["\($0)", $0.curlCommand()] }
        outputs += traffic.values.flatMap { ["\($0)", String(reflecting: $0)] }
        if let error = recorder.failure { outputs += ["\(error)", error.message, String(reflecting: error)] }
        #if Logging
        #expect(!store.entries.isEmpty)
        outputs += store.entries.map { "\($0.message) \($0.metadata)" }
        #endif
        for output in outputs where output.contains(Self.canary) {
            Issue.record("a subprotocol is shown: \(output)")
        }
    }
}
