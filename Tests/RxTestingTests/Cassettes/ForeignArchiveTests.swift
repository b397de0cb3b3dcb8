import Foundation
import HTTPTypes
import RxHTTP
import RxTesting
import Testing

/// Archives as other recorders write them.
@Suite struct ForeignArchiveTests {
    private let clock = VirtualScheduler()

    private func events(_ path: String, in archive: String, _ rules: ReplayRules = .standard) throws
        -> [String]
    {
        let replay = ReplayTransport(try Cassette(bytes: Array(archive.utf8)), on: clock, rules: rules)
        let request = Request(url: try #require(URL(string: "https://a.test\(path)")))
        return try RecordedShop.events(of: request, by: replay, on: clock)
    }

    @Test("An archive of Chrome: pseudo-fields, codings, phases that did not occur, base64")
    func chrome() throws {
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

    @Test("An archive of mitmproxy: forms as pairs, no times")
    func mitmproxy() throws {
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

    @Test(
        "Responses that did not come are failures, or stay open if they were cancelled",
        arguments: [
            ("net::ERR_NAME_NOT_RESOLVED", "resolve"), ("net::ERR_CONNECTION_REFUSED", "connect"),
            ("net::ERR_CERT_DATE_INVALID", "tls"), ("net::ERR_CONNECTION_RESET", "connectionLost"),
            ("net::ERR_ABORTED", ""),
        ])
    func failures(text: String, code: String) throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "https://a.test/x"},
             "response": {"status": 0, "content": {}, "_error": "\(text)"}, "timings": {"wait": 5}}]}}
            """
        let found = try events("/x", in: archive)
        #expect(found.first.map { $0.hasPrefix("0.005 seconds \(code) ") } ?? code.isEmpty, "\(found)")
    }

    @Test("Event streams and WebSockets of Chrome")
    func streams() throws {
        let archive = """
            {"log": {"version": "1.2", "entries": [
            {"request": {"method": "GET", "url": "https://a.test/events"}, "_resourceType": "eventsource",
             "response": {"status": 200, "headers": [{"name": "content-type", "value": "text/event-stream"}], "content": {"size": 0}},
             "timings": {"wait": 10, "receive": -1},
             "_eventSourceMessages": [{"time": 1000.5, "eventName": "message", "eventId": "", "data": "a\\nb"},
              {"time": 1002.0, "eventName": "tick", "eventId": "7", "data": "c"}]},
            {"request": {"method": "GET", "url": "https://a.test/ws"}, "_resourceType": "websocket",
             "startedDateTime": "2026-05-04T10:00:00Z", "response": {"status": 101}, "timings": {"wait": 10},
             "_webSocketMessages": [{"type": "send", "time": 1777888800.5, "opcode": 1, "data": "hi"},
              {"type": "receive", "time": 1777888801.5, "opcode": 2, "data": "AP8="}]}]}}
            """
        #expect(
            try events("/events", in: archive) == [
                "0.01 seconds head 200  content-type=text/event-stream",
                "0.01 seconds chunk data: a\ndata: b\n\n",
                "1.51 seconds chunk id: 7\nevent: tick\ndata: c\n\n", "1.51 seconds finished",
                "1.51 seconds |",
            ])
        let socket = try Cassette(bytes: Array(archive.utf8)).exchanges[1]
        #expect(socket.isWebSocket)
        #expect(socket.events.count == 4)
        #expect(socket.events[2].time == .milliseconds(1500))
    }
}
