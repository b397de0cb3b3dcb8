import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// `Expect: 100-continue`.
@Suite(.timeLimit(.minutes(1))) struct ContinueTests {
    static let large = [UInt8](repeating: 7, count: 300_000)

    private func request(
        _ server: RawServer, _ body: Body, _ policy: ContinuePolicy, method: HTTPRequest.Method = .post
    ) throws -> Request {
        var request = try Request.to(server.baseURL, method: method, body: body)
        request.continuePolicy = policy
        return request
    }

    static let bodies: [Body] = [
        .text("small"), .bytes(large), .stream(.just(large), length: Int64(large.count)),
        .stream(.just(large)),
    ]

    @Test(arguments: bodies.indices)
    func theBodyIsSentWhenTheServerAgrees(index: Int) async throws {
        let gate = try Gate()
        let server = try RawServer([
            [.readHead, .wait(gate), .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody, .respond(body: "ok")]
        ])
        try await withTransport { transport in
            let policy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            let recording = Recording(transport.send(try request(server, Self.bodies[index], policy)))
            let head = try await server.nextRequest()
            #expect(head.field("Expect") == "100-continue")
            gate.open()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.body == Array("ok".utf8))
            let body = try #require(server.record.requests.first?.body)
            #expect(Bytes(body) == Bytes(index == 0 ? Array("small".utf8) : Self.large))
        }
    }

    @Test(arguments: bodies.indices)
    func aServerThatSaysNothingGetsTheBodyAfterAWait(index: Int) async throws {
        let server = try RawServer([[.readHead, .readBody, .respond(body: "ok")]])
        try await withTransport { transport in
            let policy = ContinuePolicy(threshold: 1, wait: .milliseconds(20))
            let log = try await Recording(transport.send(try request(server, Self.bodies[index], policy)))
                .ended()
            #expect(log.error == nil)
            let body = try #require(server.record.requests.first?.body)
            #expect(Bytes(body) == Bytes(index == 0 ? Array("small".utf8) : Self.large))
        }
    }

    /// Even a body that can be sent only once, and a POST: nothing of it has been sent.
    @Test(arguments: bodies.indices)
    func aServerThatDoesNotUnderstandIsNotAsked(index: Int) async throws {
        let server = try RawServer([
            [
                .readHead, .respond(417, ["X": "y"], body: "what?"), .readRequest, .respond(body: "ok"),
                .close,
            ], [.readRequest, .respond(body: "ok")],
        ])
        try await withTransport { transport in
            let policy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            let log = try await Recording(transport.send(try request(server, Self.bodies[index], policy)))
                .ended()
            #expect(log.error == nil)
            #expect(log.kinds.filter { $0 == "head" }.count == 1)
            #expect(!log.kinds.contains("interim"))
            #expect(log.head?.status.code == 200)
            // Of the attempt that was answered.
            let metrics = try #require(log.metrics)
            #expect(metrics.firstByte >= .zero)
            #expect(metrics.sent >= .zero)
            #expect(log.body == Array("ok".utf8))
            let requests = server.record.requests
            #expect(requests.map { $0.field("Expect") } == ["100-continue", nil])
            #expect(
                requests.last.map { Bytes($0.body) } == Bytes(index == 0 ? Array("small".utf8) : Self.large))
        }
    }

    /// After as many idle connections have broken as curl tries, the request begins anew, and asks again. Its stream,
    /// of which nothing was sent, goes on.
    @Test func aStreamIsOpenedOnceForARequestThatStartsOver() async throws {
        let gate = try Gate()
        let idle: [RawServer.Step] = [
            .readRequest, .wait(gate), .respond(body: "first"), .readHead, .close,
        ]
        let server = try RawServer(
            Array(repeating: idle, count: 6) + [
                [.readHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody, .respond(body: "ok")]
            ])
        try await withTransport { transport in
            let first = try (0..<6).map { _ in Recording(transport.send(try .to(server.baseURL))) }
            _ = try await server.until { $0.requests.count == 6 ? true : nil }
            gate.open()
            for recording in first { #expect(try await recording.ended().error == nil) }
            let chunks: [[UInt8]] = [Array("or".utf8), Array("der".utf8)]
            let policy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            let request = try request(server, .stream(.sequence(chunks)), policy, method: .put)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.body == Array("ok".utf8))
            let requests = server.record.requests.filter { $0.method == "PUT" }
            #expect(requests.map { $0.field("Expect") } == Array(repeating: "100-continue", count: 7))
            #expect(requests.last?.text == "order")
        }
    }

    @Test(arguments: bodies.indices)
    func aRefusalSparesTheBody(index: Int) async throws {
        let server = try RawServer([
            [.readHead, .respond(413, body: "no"), .waitForClientClose],
            [.readRequest, .respond(body: "well")],
        ])
        try await withTransport { transport in
            let policy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            let log = try await Recording(transport.send(try request(server, Self.bodies[index], policy)))
                .ended()
            #expect(log.error == nil)
            #expect(log.head?.status.code == 413)
            #expect(log.body == Array("no".utf8))
            #expect(try await transport.get(server.baseURL).text == "well")
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections[0].bytesDropped == 0)
        }
    }

    @Test func anAnswer417ToWhatWasNotAskedIsAnAnswer() async throws {
        let server = try RawServer { _ in [.respond(417, body: "what?")] }
        try await withTransport { transport in
            let log = try await Recording(transport.send(try request(server, .text("small"), .never))).ended()
            #expect(log.head?.status.code == 417)
            #expect(log.kinds.last == "finished")
            #expect(server.record.requests.count == 1)
        }
    }

    @Test func smallBodiesAreNotAskedFor() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            for body in [Body.empty, .text("small")] {
                let log = try await Recording(transport.send(try request(server, body, .from(1000)))).ended()
                #expect(log.error == nil)
            }
            #expect(server.record.requests.allSatisfy { $0.field("Expect") == nil })
        }
    }

    static let empty: [(String, Body)] = [
        ("none", .empty), ("text", .text("")), ("of known length", .stream(.empty(), length: 0)),
        ("of unknown length", .stream(.empty())), ("of empty chunks", .stream(.sequence([[], []]))),
    ]

    /// RFC 9110 §10.1.1: a client does not send the expectation without content.
    @Test(arguments: empty.indices, [ContinuePolicy.always, .from(0), .from(-1)])
    func nothingIsAskedWithoutContent(index: Int, policy: ContinuePolicy) async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            for method in [HTTPRequest.Method.post, .put, .delete] {
                let request = try request(server, Self.empty[index].1, policy, method: method)
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                let received = try await server.nextRequest()
                #expect(received.field("Expect") == nil, "\(Self.empty[index].0)")
                #expect(received.body.isEmpty)
            }
        }
    }

    @Test func theFieldIsTheTransports() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            var request = try request(server, .text("small"), .never)
            request.headerFields[.expect] = "100-continue"
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error?.code == .invalidHeader)
            #expect(server.record.requests.isEmpty)
        }
    }
}
