import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Informational heads before the final one, and trailers after the body.
@Suite(.timeLimit(.minutes(1))) struct InterimTests {
    private static let sum = HTTPField.Name("X-Sum")!
    private static let steps: [RawServer.Step] = [
        .readRequest,
        .sendInPieces(
            "HTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Length: 7\r\n\r\n"
                + "HTTP/1.1 103 Early Hints\r\nLink: </b.css>;\r\n rel=preload\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                + "2\r\nok\r\n0\r\nX-Sum: 4\r\nx-sum: 2\r\n\r\n", size: 7),
    ]

    private static func expectAll(_ response: Response) {
        #expect(response.interim.map(\.status.code) == [100, 103, 103])
        #expect(
            response.interim.map { $0[HTTPField.Name("Link")!] } == [
                nil, "</a.css>; rel=preload", "</b.css>; rel=preload",
            ])
        #expect(response.text == "ok")
        #expect(response.trailers[values: sum] == ["4", "2"])
        #expect(response.head[sum] == nil)
    }

    @Test func areInTheResponse() async throws {
        let server = try RawServer([Self.steps])
        try await withTransport { transport in
            Self.expectAll(try await transport.get(server.baseURL))
            #expect(try await transport.get(server.baseURL).trailers.count == 2)
        }
    }

    @Test func comeInTheirOrder() async throws {
        let server = try RawServer([Self.steps])
        let log = try await withTransport { transport in
            try await Recording(transport.send(.to(server.baseURL))).ended()
        }
        #expect(log.kinds == ["interim", "head", "chunk", "trailers", "finished"])
    }

    /// A pause at each event holds back every later one.
    @Test func comeOneByOneToOneWhoPauses() async throws {
        let server = try RawServer([Self.steps, [.readRequest, .respond(body: "ok")]])
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL))) { _, subscription in
                subscription.pause()
            }
            var seen = 0
            while !recording.hasEnded {
                let before = seen
                seen = try await recording.until { $0.events > before || !$0.ends.isEmpty ? $0.events : nil }
                #expect(seen == before + 1 || recording.hasEnded)
                await transport.loop.poll()
                #expect(recording.log.events == seen)
                recording.resume()
            }
            #expect(recording.log.kinds == ["interim", "head", "chunk", "trailers", "finished"])
            #expect(recording.log.events == 7)
        }
    }
}
