import FoundationEssentials
import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxParameters
import TestServers
import Testing

/// Responses as streams, over real connections.
@Suite(.timeLimit(.minutes(1))) struct StreamTests {
    private func client(_ transport: CurlTransport, at url: String) -> Client {
        Client(baseURL: url, transport: transport)
    }

    /// More than the socket buffers of both sides can hold, as lines.
    @Test func aReaderOfLinesThatDoesNotTakeStopsTheServer() async throws {
        let line = String(repeating: "x", count: 1023) + "\n"
        let block = Array(String(repeating: line, count: 1024).utf8)
        let gate = try Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(32 * block.count)\r\n\r\n"
        let server = try RawServer([
            [.readRequest, .wait(gate), .send(head), .sendRepeatedly(block, times: 32)],
            [.readRequest]
                + [[RawServer.Step]](repeating: [.respond(body: "ok"), .readRequest], count: 100).joined(),
        ])
        try await withTransport { transport in
            let client = client(transport, at: server.baseURL)
            let iterator = client.stream(.get("/")).lines()
                .values(buffering: .suspend(high: 4, low: 1)).makeAsyncIterator()
            gate.open()
            #expect(try await iterator.next()?.utf8.count == 1023)
            _ = try await server.until { $0.connections[0].sendStalls > 0 ? true : nil }
            for _ in 0..<50 { #expect(try await transport.get(server.baseURL).text == "ok") }
            #expect(server.record.connections[0].bytesSent < 24 << 20)
            #expect(server.record.connections[0].end == nil)
            var count = 1
            while let next = try await iterator.next() {
                if next.utf8.count == 1023 { count += 1 }
            }
            #expect(count == 32 << 10)
        }
    }

    @Test func eventsComeOneByOneAndGoOnOverANewConnection() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        let server = try RawServer([
            [
                .readRequest, .send(head + "Transfer-Encoding: chunked\r\n\r\n"),
                .sendInPieces("c\r\nretry: 100\n\n\r\n13\r\nid: 1\r\ndata: a\r\n\r\n\r\n", size: 3),
                .reset,
            ],
            [.readRequest, .send(head + "Connection: close\r\n\r\ndata: b\r\rdata: half"), .close],
            [.readRequest, .send("HTTP/1.1 204 X\r\n\r\n"), .close],
        ])
        let updates = try await withTransport { transport in
            try await client(transport, at: server.baseURL).events(InlineEndpoint(.get, "/")).collect()
                .value()
        }
        let told = updates.map { update in
            switch update {
            case .open: "open"
            case .message(let event): "\(event.data) \(event.lastEventID)"
            case .comment(let text): ": \(text)"
            case .reconnecting(let delay, let error):
                "again after \(delay): \(error?.code.rawValue ?? "closed")"
            }
        }
        #expect(
            told == [
                "open", "a 1", "again after 0.1 seconds: connectionLost", "open", "b 1",
                "again after 0.1 seconds: closed",
            ])
        #expect(server.record.requests.map { $0.field("Last-Event-ID") } == [nil, "1", "1"])
    }

    @Test func anAnswerToAPostContinuesAfterResetEndAndSilence() async throws {
        struct Answer: Endpoint {
            typealias Output = Void
            var words = ""
            let path = "/chat"
            let method = HTTPRequest.Method.post
            var parameters: Parameters { .json(["words": words]) }
            // Silence ends the third connection.
            var options: RequestOptions {
                RequestOptions(timeouts: words == "Hot water" ? Timeouts(idle: .milliseconds(300)) : nil)
            }
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let server = try RawServer([
            [.readRequest, .send(head + "data: Hot\n\ndata: lo"), .reset],
            [.readRequest, .send(head + "data: water\n\n"), .close],
            [.readRequest, .send(head + "data: on\n\n"), .waitForClientClose],
            [.readRequest, .send(head + "data: leaves\n\ndata: [DONE]\n\n"), .waitForClientClose],
        ])
        let updates = try await withTransport { transport in
            try await client(transport, at: server.baseURL).events(
                Answer(), until: { $0.data == "[DONE]" },
                resumption: .next { Answer(words: $0.items.map(\.data).joined(separator: " ")) },
                backoff: .constant(.milliseconds(1))
            )
            .compactMap { update -> String? in
                switch update {
                case .message(let event): event.data
                case .reconnecting(_, let error): error?.code.rawValue ?? "closed"
                case .open, .comment: nil
                }
            }
            .collect().value()
        }
        #expect(
            updates == ["Hot", "connectionLost", "water", "partialBody", "on", "idleTimeout", "leaves"])
        #expect(
            server.record.requests.map(\.text)
                == ["", "Hot", "Hot water", "Hot water on"].map {
                    "{\"words\":\"\($0)\"}"
                })
        _ = try await server.until { $0.connections.last?.end == nil ? nil : true }
    }

    @Test func aFileIsWrittenDecoded() async throws {
        let server = try NginxServer.shared()
        let directory = try TemporaryFolder()
        let progress = try await withTransport { transport in
            try await client(transport, at: server.baseURL).stream(InlineEndpoint(.get, "/text"))
                .file(at: directory.file("f"), in: transport.files).collect().value()
        }
        #expect(try directory.content("f") == Array(NginxServer.text.utf8))
        #expect(try directory.names == ["f"])
        #expect(progress.last?.bytes == Int64(NginxServer.text.utf8.count))
        #expect(progress.last?.expected == nil)
    }

    @Test func aBombToAFileIsRefusedByItsRatio() async throws {
        let bomb = Gzip.deflatedZeros(count: 100 << 20)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(bomb.count)\r\n\r\n"
        let server = try RawServer { _ in [.send(Array(head.utf8) + bomb)] }
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            let files = transport.files
            let error = await #expect(throws: NetworkError.self) {
                try await client(transport, at: server.baseURL).stream(InlineEndpoint(.get, "/"))
                    .file(at: directory.file("f"), in: files).collect().value()
            }
            #expect(error?.code == .tooLarge)
        }
        #expect(try !directory.names.contains("f"))
        let chunks = try await withTransport(configured: { $0.expansionLimit = 10_000 }) { transport in
            try await client(transport, at: server.baseURL).stream(InlineEndpoint(.get, "/")).chunks()
                .reduce(0) { $0 + $1.count }.value()
        }
        #expect(chunks > 90 << 20)
    }
}
