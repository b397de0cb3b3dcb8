import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// Each limit over sockets: the server stops responding, and the error names the limit.
@Suite(.timeLimit(.minutes(1))) struct TimeoutTests {
    struct Stall: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [RawServer.Step]
        let limits: Timeouts
        let code: NetworkError.Code
        var body: Body = .empty
    }

    private static let short = Duration.milliseconds(400)

    static let stalls = [
        Stall(
            testDescription: "no answer", steps: [.readRequest, .stall],
            limits: Timeouts(firstByte: short), code: .firstByteTimeout),
        Stall(
            testDescription: "no answer to a small body", steps: [.readRequest, .stall],
            limits: Timeouts(firstByte: short), code: .firstByteTimeout, body: .text("small")),
        Stall(
            testDescription: "no answer to a large body", steps: [.readRequest, .stall],
            limits: Timeouts(firstByte: short), code: .firstByteTimeout,
            body: .bytes([UInt8](repeating: 1, count: 1 << 20))),
        Stall(
            testDescription: "no answer after an informational one",
            steps: [.readRequest, .send("HTTP/1.1 102 Processing\r\n\r\n"), .stall],
            limits: Timeouts(firstByte: short), code: .firstByteTimeout),
        Stall(
            testDescription: "half a head", steps: [.readRequest, .send("HTTP/1.1 200 OK\r\nA: b"), .stall],
            limits: Timeouts(idle: short), code: .idleTimeout),
        Stall(
            testDescription: "half a body",
            steps: [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall],
            limits: Timeouts(idle: short), code: .idleTimeout),
        Stall(
            testDescription: "an upload that is not read", steps: [.readHead, .stall],
            limits: Timeouts(idle: short), code: .idleTimeout,
            body: .bytes([UInt8](repeating: 1, count: 32 << 20))),
        Stall(
            testDescription: "the attempt as a whole", steps: [.readRequest, .stall],
            limits: Timeouts(attempt: short), code: .attemptTimeout),
    ]

    @Test(arguments: stalls)
    func namesThePhase(_ stall: Stall) async throws {
        let server = try RawServer([stall.steps, [.readRequest, .respond(body: "well")]])
        var request = try Request.to(
            server.baseURL, method: !stall.body.isEmpty ? .put : .get, body: stall.body)
        request.timeouts = stall.limits
        let log = try await withTransport { transport in
            let log = try await Recording(transport.send(request)).ended()
            #expect(try await transport.get(server.baseURL).text == "well")
            return log
        }
        let error = try #require(log.error)
        #expect(error.code == stall.code)
        let name = stall.code == .firstByteTimeout ? "first byte" : stall.code.rawValue.dropLast(7)
        #expect(error.message.hasPrefix("\(name) timeout: "))
        #expect(error.message.contains("\(Self.short)"))
        #expect(!error.isUnsent)
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
    }

    @Test func connecting() async throws {
        let port = try DeadPort(.full)
        var request = try Request.to(port.baseURL)
        request.timeouts = Timeouts(connect: Self.short)
        let log = try await withTransport { transport in
            try await Recording(transport.send(request)).ended()
        }
        #expect(log.error?.code == .connectTimeout)
        #expect(log.error?.message == "connect timeout: no connection was made within \(Self.short)")
        #expect(log.error?.isUnsent == true)
    }

    /// The request asks first, so that it waits for its content, for longer than the limit. The limit of libcurl, which
    /// comes later and ends no lookup, would have a code.
    @Test func connectingAfterAWaitForContent() async throws {
        let port = try DeadPort(.full)
        let content = UpgradeOutput()
        var request = try Request.to(port.baseURL, method: .put, body: .stream(content.stream))
        request.continuePolicy = .always
        request.timeouts = Timeouts(connect: Self.short, firstByte: nil, idle: nil)
        var other = try Request.to(port.baseURL)
        other.timeouts = Timeouts(connect: Self.short + .milliseconds(100))
        try await withTransport { transport in
            let recording = Recording(transport.send(request))
            #expect(try await Recording(transport.send(other)).ended().error?.code == .connectTimeout)
            #expect(recording.log.ends.isEmpty)
            content.send([7])
            let error = try #require(try await recording.ended().error)
            #expect(error.code == .connectTimeout)
            #expect(error.curlCode == nil)
            #expect(error.isUnsent)
        }
    }

    /// Whether the time of a pause counts is shown by a comparison: another transfer with a longer limit
    /// fails first.
    @Test func aPausedConsumerDoesNotRunOutOfTime() async throws {
        let gate = try Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
        let server = try RawServer([
            [.readRequest, .send(head + "abc"), .wait(gate), .send("def"), .waitForClientClose],
            [.readRequest, .send(head), .stall],
        ])
        try await withTransport { transport in
            var paused = try Request.to(server.baseURL)
            paused.timeouts = Timeouts(idle: .milliseconds(1500))
            let recording = Recording(transport.send(paused)) { event, subscription in
                if case .head = event { subscription.pause() }
            }
            _ = try await recording.until { $0.head }
            var other = try Request.to(server.baseURL)
            other.timeouts = Timeouts(idle: .seconds(2))
            #expect(try await Recording(transport.send(other)).ended().error?.code == .idleTimeout)
            #expect(recording.log.ends.isEmpty)
            gate.open()
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self) == "abcdef")
        }
    }

    @Test func aHandleThatIsUsedAgainKeepsNoLimit() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [
                .readRequest, .respond(body: "first"), .readRequest, .wait(gate), .respond(body: "second"),
                .waitForClientClose,
            ],
            [.readRequest, .stall],
        ])
        try await withTransport { transport in
            var limited = try Request.to(server.baseURL)
            limited.timeouts = Timeouts(firstByte: .milliseconds(1500), idle: .milliseconds(1500))
            #expect(try await transport.answer(to: limited).text == "first")
            var unlimited = try Request.to(server.baseURL)
            unlimited.timeouts = .unlimited
            let recording = Recording(transport.send(unlimited))
            _ = try await server.until { $0.requests.count == 2 ? true : nil }
            limited.timeouts = Timeouts(firstByte: .seconds(2))
            let other = try await Recording(transport.send(limited)).ended()
            #expect(other.error?.code == .firstByteTimeout)
            #expect(recording.log.ends.isEmpty)
            gate.open()
            #expect(try await recording.ended().error == nil)
        }
    }

    /// The loop is kept busy until the limit has passed and the complete response waits in its socket.
    @Test func aLoopThatWasHeldUpDoesNotTakeItForTheServersSilence() async throws {
        let limit = Duration.milliseconds(500)
        let isSent = Slots(0)
        try await withTransport { transport in
            let loop = transport.loop
            let server = try RawServer { _ in
                loop.schedule {
                    let begin = loop.now
                    isSent.take()
                    while loop.now - begin < limit + .milliseconds(10) {}
                }
                return [.respond(body: "in time")]
            }
            var request = try Request.to(server.baseURL)
            request.timeouts = Timeouts(firstByte: limit)
            let recording = Recording(transport.send(request))
            _ = try await server.until { $0.connections.first.flatMap { $0.bytesSent > 0 ? true : nil } }
            isSent.give()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self) == "in time")
        }
    }
}
