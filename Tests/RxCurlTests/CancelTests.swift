import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Cancelling closes the connection, emits nothing, and does not affect the transport.
@Suite(.timeLimit(.minutes(1))) struct CancelTests {
    private static let good: [RawServer.Step] = [.readRequest, .respond(body: "ok")]

    /// A GET without a limit for the wait for its connection.
    private static func patient(_ url: String) throws -> Request {
        var request = try Request.to(url)
        request.timeouts.connect = nil
        return request
    }

    /// Cancels, checks that another request gets its response, and that the cancelled one emitted nothing.
    private func expectSilence(
        _ recording: Recording, kinds: [String], _ transport: CurlTransport, _ url: String
    ) async throws {
        recording.cancel()
        #expect(try await transport.get(url).text == "ok")
        #expect(recording.log.kinds == kinds)
        #expect(recording.log.ends.isEmpty)
    }

    @Test func beforeItStarts() async throws {
        let server = try RawServer([Self.good])
        try await withTransport { transport in
            let recording = Mutex<Recording?>(nil)
            let isDone = Board(false)
            // Blocks the loop, so that it cannot start anything.
            transport.loop.schedule {
                recording.withLock { $0 = try? Recording(transport.send(.to(server.baseURL))) }
                recording.withLock { $0 }?.cancel()
                isDone.update { $0 = true }
            }
            _ = try await isDone.until { $0 ? true : nil }
            let cancelled = try #require(recording.withLock { $0 })
            try await expectSilence(cancelled, kinds: [], transport, server.baseURL)
        }
        #expect(server.record.requests.count == 1)
    }

    @Test func fromAThreadThatHasJustSubscribed() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            for _ in 0..<200 {
                let recording = Recording(transport.send(try .to(server.baseURL)))
                recording.cancel()
                #expect(recording.log.ends.isEmpty)
            }
            #expect(try await transport.get(server.baseURL).text == "ok")
        }
    }

    /// curl 7.88 closes a socket that is not connected yet without a callback; a loop that still watched it
    /// would abort the process. Resolving, connecting and the handshake begin in one iteration or another.
    @Test(arguments: ["http://127.0.0.1", "https://127.0.0.1", "http://localhost"], 0..<6)
    func soManyRoundsOfTheLoopAfterSubscribing(host: String, rounds: Int) async throws {
        let server = try RawServer([[.stall]])
        try await withTransport { transport in
            let loop = transport.loop
            let request = try Self.patient("\(host):\(server.port)/")
            let recordings = Board<[Recording]>([])
            @Sendable func cancel(after rounds: Int) {
                loop.schedule {
                    if rounds > 0 { return cancel(after: rounds - 1) }
                    for recording in recordings.contents { recording.cancel() }
                }
            }
            loop.schedule {
                // These subscribe in the next iteration, before the work that is scheduled after them.
                recordings.update { all in
                    all = (0..<20).map { _ in Recording(transport.send(request)) { _, _ in } }
                }
                cancel(after: rounds)
            }
            for _ in 0..<(rounds + 4) { await loop.poll() }
            let all = recordings.contents
            #expect(all.count == 20)
            for recording in all { #expect(recording.log.ends.isEmpty) }
        }
    }

    @Test func whileConnecting() async throws {
        let full = try DeadPort(.full)
        let server = try RawServer([Self.good])
        try await withTransport { transport in
            let recording = Recording(transport.send(try Self.patient(full.baseURL)))
            // The response shows that the previous request has been started.
            #expect(try await transport.get(server.baseURL).text == "ok")
            try await expectSilence(recording, kinds: [], transport, server.baseURL)
        }
    }

    @Test func whileResolving() async throws {
        let server = try RawServer([Self.good])
        try await withTransport { transport in
            let loop = transport.loop
            let request = try Self.patient("http://nothing.invalid/")
            let cancelled = Board<(recording: Recording, ends: Int)?>(nil)
            loop.schedule {
                let recording = Recording(transport.send(request)) { _, _ in }
                // The resolver's thread starts in between. It may have ended by now if there is no DNS
                // server.
                loop.schedule {
                    loop.schedule {
                        recording.cancel()
                        cancelled.update { $0 = (recording, recording.log.ends.count) }
                    }
                }
            }
            let (recording, ends) = try await cancelled.until { $0 }
            #expect(try await transport.get(server.baseURL).text == "ok")
            #expect(recording.log.kinds.isEmpty)
            #expect(recording.log.ends.count == ends)
        }
    }

    @Test func whileTheTLSHandshakeStalls() async throws {
        let server = try RawServer([[.stall], Self.good])
        try await withTransport { transport in
            let recording = Recording(
                transport.send(try Self.patient("https://127.0.0.1:\(server.port)/")))
            _ = try await server.until { $0.connections.isEmpty ? nil : true }
            try await expectSilence(recording, kinds: [], transport, server.baseURL)
            #expect(try await server.connectionEnded(0) == .clientClosed)
        }
    }

    /// The bytes received before the cancel, and the server's state until then.
    static let phases: [(String, [RawServer.Step], [String])] = [
        ("waiting for the head", [.readRequest, .waitForClientClose], []),
        ("in the status line", [.readRequest, .send("HTTP/1.1 2"), .waitForClientClose], []),
        ("in the head", [.readRequest, .send("HTTP/1.1 200 OK\r\nA: b\r\n"), .waitForClientClose], []),
        (
            "after a 100", [.readRequest, .send("HTTP/1.1 100 Continue\r\n\r\n"), .waitForClientClose],
            ["interim"]
        ),
        (
            "after the head",
            [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .waitForClientClose],
            ["head"]
        ),
        (
            "in the body",
            [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForClientClose],
            ["head", "chunk"]
        ),
        (
            "between chunks",
            [
                .readRequest, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
                .waitForClientClose,
            ], ["head", "chunk"]
        ),
        (
            "in a body without length",
            [.readRequest, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForClientClose], ["head", "chunk"]
        ),
    ]

    @Test(arguments: phases)
    func inEveryPhaseTheServerSeesItAtOnce(
        phase: String, script: [RawServer.Step], kinds: [String]
    ) async throws {
        let server = try RawServer([script, Self.good])
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(server.baseURL)))
            let total = script.reduce(0) { count, step in
                if case .send(let bytes) = step { count + bytes.count } else { count }
            }
            _ = try await server.until { record in
                record.requests.isEmpty || record.connections[0].bytesSent < total ? nil : true
            }
            _ = try await recording.until { $0.kinds == kinds ? true : nil }
            recording.cancel()
            // Unread bytes make the kernel's close a reset.
            let end = try await server.connectionEnded(0)
            #expect(end == .clientClosed || (kinds.isEmpty && end == .clientReset))
            try await expectSilence(recording, kinds: kinds, transport, server.baseURL)
        }
    }

    @Test(arguments: ["head", "chunk", "finished"])
    func fromInsideAnEventNothingFollows(kind: String) async throws {
        let nginx = try NginxServer.shared()
        let target = kind == "finished" ? "/json" : "/large"
        try await withTransport { transport in
            let recording = Recording(transport.send(try .to(nginx.baseURL + target))) {
                event, subscription in
                switch (event, kind) {
                case (.head, "head"), (.chunk, "chunk"), (.finished, "finished"): subscription.cancel()
                default: break
                }
            }
            let log = try await recording.until { $0.kinds.last == kind ? $0 : nil }
            #expect(log.chunks <= 1)
            #expect(try await transport.get(nginx.baseURL + "/json").text == NginxServer.json)
            #expect(recording.log.kinds.last == kind)
            #expect(recording.log.chunks == log.chunks)
            #expect(recording.log.ends.isEmpty)
        }
    }

    @Test func fromInsideAnEventWithANewRequestInItsPlace() async throws {
        let nginx = try NginxServer.shared()
        try await withTransport { transport in
            let second = Board<Recording?>(nil)
            let request = try Request.to(nginx.baseURL + "/json")
            let first = Recording(transport.send(try .to(nginx.baseURL + "/large"))) { event, subscription in
                guard case .chunk = event else { return }
                subscription.cancel()
                second.update { $0 = Recording(transport.send(request)) }
            }
            let recording = try await second.until { $0 }
            #expect(try await recording.ended().body == Array(NginxServer.json.utf8))
            #expect(first.log.kinds == ["head", "chunk"])
        }
    }

    @Test func anUploadIsBrokenOff() async throws {
        let gate = try Gate()
        let server = try RawServer([[.readHead, .wait(gate), .waitForClientClose], Self.good])
        try await withTransport { transport in
            let body = Body.bytes([UInt8](repeating: 1, count: 32 << 20))
            let recording = Recording(transport.send(try .to(server.baseURL, method: .post, body: body)))
            _ = try await server.nextRequest()
            recording.cancel()
            #expect(try await transport.get(server.baseURL).text == "ok")
            // Bytes in the kernel's buffers come first, and only if the server reads them.
            gate.open()
            #expect(try await server.connectionEnded(0) == .clientClosed)
            let log = recording.log
            #expect(log.ends.isEmpty)
            #expect(log.uploaded.allSatisfy { $0 < 32 << 20 })
        }
    }

    @Test func leavingALoopOrCancellingItsTaskCancels() async throws {
        let server = try RawServer([
            [.readRequest, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForClientClose],
            [.readRequest, .waitForClientClose], Self.good,
        ])
        try await withTransport { transport in
            let request = try Request.to(server.baseURL)
            for try await event in transport.send(request).values(buffering: .unbounded) {
                if case .chunk = event { break }
            }
            #expect(try await server.connectionEnded(0) == .clientClosed)
            let task = Task { try await transport.send(request).value() }
            _ = try await server.until { $0.requests.count == 2 ? true : nil }
            task.cancel()
            let error = await #expect(throws: NetworkError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(try await server.connectionEnded(1) == .clientClosed)
            #expect(try await transport.get(server.baseURL).text == "ok")
        }
    }
}
