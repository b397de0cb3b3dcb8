import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

/// Archives as other recorders write them.
@Suite struct ForeignArchiveTests {
    private let clock = VirtualScheduler()

    private func events(_ path: String, in archive: String, _ rules: ReplayRules = .standard) throws
        -> [String]
    {
        let replay = ReplayTransport(try Cassette(bytes: Array(archive.utf8)), on: clock, rules: rules)
        let request = Request(
            url: try #require(URL(string: "https://a.test\(path)")), timeouts: .unlimited)
        return try RecordedShop.events(of: request, by: replay, on: clock)
    }

    /// An archive of Chrome: pseudo-fields, codings, phases that did not occur, base64.
    @Test func chrome() throws {
        let archive = """
            {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [
            {"_initiator": {"type": "other"}, "_priority": "High", "_resourceType": "fetch", "cache": {}, "connection": "443",
             "startedDateTime": "2026-05-04T10:00:00.123Z", "time": 60, "serverIPAddress": "192.0.2.1",
             "request": {"method": "GET", "url": "https://a.test/x", "httpVersion": "http/2.0", "queryString": [], "cookies": [],
              "headers": [{"name": ":authority", "value": "a.test"}, {"name": "accept", "value": "*/*"}], "headersSize": -1, "bodySize": 0},
             "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "cookies": [], "redirectURL": "",
              "headers": [{"name": "content-encoding", "value": "br"}, {"name": "content-length", "value": "3"},
               {"name": "set-cookie", "value": "a=1\\nb=2"}],
              "content": {"size": 5, "mimeType": "text/plain", "text": "aGVsbG8=", "encoding": "base64"},
              "headersSize": -1, "bodySize": -1, "_transferSize": 120, "_error": null},
             "timings": {"blocked": 10, "dns": -1, "ssl": -1, "connect": -1, "send": 0.5, "wait": 29.5, "receive": 20, "_blocked_queueing": 2}}]}}
            """
        #expect(
            try events("/x", in: archive) == [
                "0.04 seconds head 200  set-cookie=a=1;set-cookie=b=2", "0.06 seconds chunk hello",
                "0.06 seconds finished", "0.06 seconds |",
            ])
    }

    /// An archive of mitmproxy: forms as pairs, no times.
    @Test func mitmproxy() throws {
        let archive = """
            {"log": {"version": "1.2", "creator": {"name": "mitmproxy", "version": "11.0"}, "pages": [], "entries": [
            {"startedDateTime": "2026-05-04T10:00:00.123456+00:00", "time": 3,
             "request": {"method": "POST", "url": "https://a.test/form", "httpVersion": "HTTP/1.1", "cookies": [], "queryString": [],
              "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
              "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "", "params": [{"name": "a", "value": "b c"}]},
              "headersSize": 1, "bodySize": 5},
             "response": {"status": 204, "statusText": "No Content", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
              "content": {"size": 0, "compression": 0, "mimeType": ""}, "redirectURL": "", "headersSize": 1, "bodySize": 0},
             "cache": {}, "timings": {"send": 1, "receive": 1, "wait": 1, "connect": -1, "ssl": -1}, "serverIPAddress": "192.0.2.1"}]}}
            """
        let cassette = try Cassette(bytes: Array(archive.utf8))
        #expect(String(decoding: cassette.exchanges[0].body, as: UTF8.self) == "a=b+c")
        #expect(cassette.exchanges[0].events.map(\.time) == [.milliseconds(2), .milliseconds(3)])
    }

    /// Responses that did not come are failures, or stay open if they were cancelled.
    @Test(arguments: [
        ("net::ERR_NAME_NOT_RESOLVED", "resolve"), ("net::ERR_CONNECTION_REFUSED", "connect"),
        ("net::ERR_CERT_DATE_INVALID", "tls"), ("net::ERR_CONNECTION_RESET", "connectionLost"),
        ("net::ERR_ABORTED", ""), ("[Errno 61] Connect call failed ('192.0.2.1', 80)", "connect"),
    ])
    func failures(text: String, code: String) throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "https://a.test/x"},
             "response": {"status": 0, "content": {}, "_error": "\(text)"}, "timings": {"wait": 5}}]}}
            """
        let found = try events("/x", in: archive)
        #expect(found.first.map { $0.hasPrefix("0.005 seconds \(code) ") } ?? code.isEmpty, "\(found)")
    }

    /// Event streams and WebSockets of Chrome.
    @Test func streams() throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [
            {"request": {"method": "GET", "url": "https://a.test/events"}, "_resourceType": "eventsource",
             "response": {"status": 200, "headers": [{"name": "content-type", "value": "text/event-stream"}], "content": {"size": 0}},
             "timings": {"wait": 10, "receive": -1},
             "_eventSourceMessages": [{"time": 1000.5, "eventName": "message", "eventId": "", "data": "a\\nb"},
              {"time": 1002.0, "eventName": "tick", "eventId": "7", "data": "c\\r\\nd"}]},
            {"request": {"method": "GET", "url": "https://a.test/ws"}, "_resourceType": "websocket",
             "startedDateTime": "2026-05-04T10:00:00Z", "response": {"status": 101}, "timings": {"wait": 10},
             "_webSocketMessages": [{"type": "send", "time": 1777888800.5, "opcode": 1, "data": "hi"},
              {"type": "receive", "time": 1777888801.5, "opcode": 2, "data": "AP8="}]}]}}
            """
        #expect(
            try events("/events", in: archive) == [
                "0.01 seconds head 200  content-type=text/event-stream",
                "0.01 seconds chunk data: a\ndata: b\n\n",
                "1.51 seconds chunk id: 7\nevent: tick\ndata: c\r\ndata: d\n\n", "1.51 seconds finished",
                "1.51 seconds |",
            ])
        let socket = try Cassette(bytes: Array(archive.utf8)).exchanges[1]
        #expect(socket.isWebSocket)
        #expect(socket.events.count == 4)
        #expect(socket.events[2].time == .milliseconds(1500))
    }

    /// Playwright's entries: no response is the status -1, and the reason has a name of its own.
    @Test(arguments: [
        (#", "_failureText": "net::ERR_CONNECTION_REFUSED""#, "connect"), ("", "connectionLost"),
    ])
    func playwright(members: String, code: String) throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "https://a.test/x"},
             "response": {"status": -1, "content": {"size": -1}\(members)}, "timings": {"wait": 5, "receive": -1}}]}}
            """
        #expect(try events("/x", in: archive).first?.hasPrefix("0.005 seconds \(code) ") == true)
    }

    /// A response that broke off ends with its failure, and one that was left stays open.
    @Test(arguments: [
        (
            "net::ERR_CONTENT_LENGTH_MISMATCH",
            "0.0 seconds connectionLost net::ERR_CONTENT_LENGTH_MISMATCH unsent=false"
        ),
        ("net::ERR_ABORTED", nil),
    ])
    func brokenResponses(text: String, end: String?) throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "https://a.test/x"},
             "response": {"status": 200, "content": {"text": "ab"}, "_error": "\(text)"}}]}}
            """
        let found = try events("/x", in: archive)
        #expect(found.prefix(2) == ["0.0 seconds head 200  ", "0.0 seconds chunk ab"])
        #expect(found.dropFirst(2).first == end)
    }

    private static func socket(_ messages: String, _ members: String = "") -> String {
        """
        {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "wss://a.test/ws"},
         "startedDateTime": "2026-05-04T10:00:00Z", "response": {"status": 101}, "timings": {"wait": 10}\(members),
         "_webSocketMessages": [\(messages)]}]}}
        """
    }

    /// A client finds the WebSocket of a browser, whose URL begins with wss; times are seconds or
    /// milliseconds.
    @Test(arguments: ["1777888801.5", "1777888801500"])
    func webSockets(time: String) throws {
        let archive = Self.socket(
            """
            {"type": "receive", "time": \(time), "opcode": 1, "data": "hi"},
            {"type": "receive", "time": \(time), "opcode": 8, "data": "", "_code": 1000}
            """)
        let replay = ReplayTransport(try Cassette(bytes: Array(archive.utf8)), on: clock)
        let client = Client(baseURL: "https://a.test", transport: replay)
        let texts = Recorder(client.webSocket("/ws").texts(), on: clock)
        try clock.advance(by: .seconds(2))
        #expect(texts.values == ["hi"])
        #expect(texts.events.first?.time == .milliseconds(1500))
        texts.cancel()
        try replay.verify()
    }

    /// Chrome's entry for a connection that broke is the failure of the WebSocket.
    @Test func brokenWebSockets() throws {
        let archive = Self.socket(
            """
            {"type": "send", "time": 1777888801, "opcode": 1, "data": "hi"},
            {"type": "error", "time": 1777888802, "opcode": -1, "data": "net::ERR_CONNECTION_RESET"}
            """, #", "_resourceType": "websocket""#)
        let exchange = try #require(try Cassette(bytes: Array(archive.utf8)).exchanges.first)
        guard case .failed(let failure) = exchange.events.last?.kind else {
            Issue.record("no failure: \(exchange.events)")
            return
        }
        #expect(failure == .init(.connectionLost, "net::ERR_CONNECTION_RESET", phase: .response))
        #expect(exchange.events.last?.time == .seconds(2))
    }

    private static let recorded = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures/Archives")

    /// Archives that others recorded: every entry answers its request.
    @Test(
        arguments: [
            (
                "chrome-51.har",
                [
                    "https://stevesouders.com/cuzillion/?c0=bi1hfff2_0_f&t=1466791134682: 200 finished 0",
                    "https://stevesouders.com/cuzillion/logo-32x32.gif: 200 finished 1057",
                    "https://stevesouders.com/cuzillion/logo-32x32.gif: 200 finished 0",
                ]
            ),
            ("chrome-114.har", ["https://bi.pst.tech/events: 200 running 0"]),
            (
                "firefox-47.har",
                [
                    "http://localhost:8888/harviewer-49.html: 200 finished 287",
                    "https://expired.badssl.com/style.css: connectionLost",
                    "https://wrong.host.badssl.com/style.css: connectionLost",
                ]
            ),
            ("mitmproxy-9.har", ["http://163.com/: connect", "https://httpbin.org/get: 405 finished 178"]),
        ] as [(String, [String])])
    func recordedArchives(name: String, outcomes: [String]) throws {
        let cassette = try Cassette(contentsOf: Self.recorded.appending(path: name).path)
        let rewritten = cassette.encoded
        #expect(try Cassette(bytes: rewritten).encoded == rewritten)
        let replay = ReplayTransport(cassette, on: clock)
        var found: [String] = []
        for exchange in cassette.exchanges {
            let request = Request(
                method: exchange.method, url: try #require(URL(string: exchange.url)),
                headerFields: exchange.headerFields,
                body: exchange.body.isEmpty ? .empty : .bytes(exchange.body), timeouts: .unlimited)
            let recorder = Recorder(replay.send(request), on: clock)
            try clock.run()
            var (status, size) = ("", 0)
            for event in recorder.values {
                if case .head(let head) = event { status = "\(head.status.code) " }
                if case .chunk(let bytes) = event { size += bytes.count }
            }
            let end: String
            switch recorder.completion {
            case .finished: end = "finished \(size)"
            case .failed(let error): end = error.code.rawValue
            case nil: end = "running \(size)"
            }
            recorder.cancel()
            found.append("\(exchange.url): \(status)\(end)")
        }
        #expect(found == outcomes)
        #expect(cassette.exchanges.allSatisfy { $0.startedAt.timeIntervalSince1970 > 1.4e9 })
        try replay.verify()
        // What was read is a cassette, and stays one.
        #expect(try Cassette(bytes: cassette.encoded).encoded == cassette.encoded)
    }
}
