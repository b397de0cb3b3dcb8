import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// The number of connections that stay open, and the choice of the one to reuse.
@Suite(.timeLimit(.minutes(1))) struct IdleConnectionTests {
    /// If more connections are in use than may be idle, they are reused nevertheless.
    @Test func connectionsInUseDoNotCountAsIdle() async throws {
        let server = try RawServer { _ in [.respond()] }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.maxIdleConnections = 2
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let request = try Request.to(server.baseURL)
        // On the loop, where each request follows its predecessor at once.
        let reused = try await Observable<Int, NetworkError>.sequence(0..<400).subscribe(on: loop)
            .flatMap(.merge(limit: 8)) { _ in transport.send(request).response(to: request) }
            .filter(\.metrics.isConnectionReused)
            .collect().value()
        #expect(server.record.connections.count == 8)
        #expect(reused.count == 392)
    }

    /// While curl keeps bytes for a paused subscriber of another connection.
    @Test func whatCameUnaskedDuringAPauseIsNotTakenForTheNext() async throws {
        let late = try Gate()
        let server = try RawServer([
            [
                .readRequest, .send("HTTP/1.1 200 OK\r\n\r\n"),
                .sendRepeatedly(Array(NginxServer.large.prefix(1 << 20)), times: .max),
            ],
            [
                .readRequest, .respond(body: "first"), .wait(late), .respond(408, body: "late"),
                .waitForClientClose,
            ],
            [.readRequest, .respond(body: "again")],
        ])
        try await withTransport { transport in
            let paused = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                if case .chunk = event { subscription.pause() }
            }
            _ = try await server.until { ($0.connections.first?.sendStalls ?? 0) > 0 ? true : nil }
            #expect(try await transport.get(server.baseURL).text == "first")
            // The server counts them after it has sent them.
            let before = try await server.until { record in
                record.connections[1].bytesSent > 0 ? record.connections[1].bytesSent : nil
            }
            late.open()
            _ = try await server.until { $0.connections[1].bytesSent > before ? true : nil }
            await transport.loop.poll()
            #expect(try await transport.get(server.baseURL).text == "again")
            #expect(paused.log.chunks == 1)
            #expect(paused.log.ends.isEmpty)
            paused.cancel()
        }
    }

    /// The session tickets of TLS 1.3 come ahead of the response, and do not prevent reuse of the connection.
    @Test(arguments: ["TLS 1.2", "TLS 1.3"])
    func aConnectionOverTLSIsUsedAgain(version: String) async throws {
        let server = try NginxServer.shared()
        let url = (version == "TLS 1.3" ? server.tls13BaseURL : server.tlsBaseURL) + "/json"
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let first = try await transport.get(url)
            #expect(!first.metrics.isConnectionReused)
            for _ in 0..<10 {
                await transport.loop.poll()
                let next = try await transport.get(url)
                #expect(next.metrics.isConnectionReused)
            }
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func whatCameUnaskedOverTLSIsNotTakenForTheNext(version: String) async throws {
        let nginx = try NginxServer.shared()
        let server = try ChildProcess(
            "/usr/bin/openssl",
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", nginx.certificatePath, "-key",
                nginx.folder + "/key.pem", version,
            ])
        func line(_ matches: (String) -> Bool) async throws -> String {
            while let line = try await server.nextLine() {
                if matches(line) { return line }
            }
            throw CancellationError()
        }
        let port = try await line { $0.hasPrefix("ACCEPT") }.split(separator: ":").last.flatMap { UInt16($0) }
        let middle = try RawServer([[.relay(port: try #require(port), bytes: .max)]])
        try await withTransport(caBundlePath: nginx.certificatePath) { transport in
            func get(_ body: String) async throws -> String? {
                let recording = Recording(transport.send(try .to("https://127.0.0.1:\(middle.port)")))
                _ = try await line { $0 == "\r" }
                try server.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return String(decoding: try await recording.ended().body, as: UTF8.self)
            }
            #expect(try await get("first") == "first")
            let before = middle.record.connections[0].bytesSent
            try server.write("HTTP/1.1 408 Late\r\nContent-Length: 4\r\n\r\nlate")
            _ = try await middle.until { $0.connections[0].bytesSent > before ? true : nil }
            await transport.loop.poll()
            #expect(try await get("again") == "again")
            #expect(middle.record.connections.count == 2)
        }
    }
}
