import RxHTTP
import RxSimulation

extension Parser {
    static let cassette: [Parser] = [
        Parser(
            "cassette",
            [
                """
                {"log": {"version": "1.2", "_cassette": 1, "entries": [{"startedDateTime": "2026-05-04T10:00:00.5Z",
                "request": {"method": "POST", "url": "https://a.test/x?b=c", "headers": [{"name": "A", "value": "b"}],
                "postData": {"mimeType": "text/plain", "text": "é"}}, "response": {"status": 200, "statusText": "OK",
                "httpVersion": "HTTP/2", "headers": [], "content": {"text": "aGVsbG8=", "encoding": "base64"}},
                "_uploads": [[1, 2, 3], [2, 3]], "_interim": [{"at": 1, "status": 103, "headers": []}], "_headAt": 2,
                "_chunks": [[2.5, 2], [3, 3]], "_trailers": {"at": 4, "headers": []},
                "_end": {"at": 5, "outcome": "failed", "code": "tls", "phase": "connect", "curlCode": 60}}]}}
                """,
                """
                {"log": {"version": "1.2", "entries": [{"request": {"method": "GET", "url": "https://a.test/ws"},
                "response": {"status": 101}, "timings": {"wait": 1.5, "receive": -1}, "_resourceType": "websocket",
                "_webSocketMessages": [{"type": "send", "time": 1.5, "opcode": 1, "data": "\\u00e9"},
                {"type": "receive", "time": 2, "opcode": 8, "data": "", "_code": 1000}]}, {"request": {"method": "GET",
                "url": "https://a.test/", "postData": {"params": [{"name": "a", "value": "b"}]}},
                "response": {"status": 0, "_error": "net::ERR_ABORTED"}}]}}
                """,
            ]
        ) { bytes in
            let cassette: Cassette
            do throws(FixtureError) { cassette = try Cassette(bytes: bytes) } catch {
                try demand(error.line != nil && error.column != nil, "an error without a place: \(error)")
                return "\(error)"
            }
            for exchange in cassette.exchanges {
                let times = exchange.events.map(\.time)
                try demand(times == times.sorted(), "times that decrease")
            }
            let written = cassette.encoded
            let again = try? Cassette(bytes: written)
            try demand(again?.encoded == written, "a cassette that changes when it is written and read")
            return String(decoding: written, as: UTF8.self)
        }
    ]
}
