import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// A server may close an idle connection at the very moment at which the next request is sent. Only a request
/// that may be sent twice is sent again on a new connection (RFC 9110 §9.2.2).
@Suite(.timeLimit(.minutes(1))) struct ResendTests {
    /// The server's reaction to the second request on a connection.
    enum Death: CaseIterable {
        case resetUnread, closedAfterReading, resetAfterReading

        var steps: [RawServer.Step] {
            switch self {
            case .resetUnread: [.closeWithoutReading]
            case .closedAfterReading: [.readRequest, .close]
            case .resetAfterReading: [.readRequest, .reset]
            }
        }
    }

    private static func server(_ death: Death) throws -> RawServer {
        try RawServer([
            [.readRequest, .respond(body: "first")] + death.steps, [.readRequest, .respond(body: "again")],
        ])
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE"], Death.allCases)
    func whatIsIdempotentIsSentAgain(name: String, death: Death) async throws {
        let server = try Self.server(death)
        let body = Body.text(name == "PUT" ? "content" : "")
        let request = try Request.to(
            server.baseURL + "/2", method: #require(HTTPRequest.Method(name)), body: body)
        let log = try await withTransport { transport in
            #expect(try await transport.get(server.baseURL + "/1").text == "first")
            return try await Recording(transport.send(request)).ended()
        }
        #expect(log.error == nil)
        #expect(log.kinds.count { $0 == "head" } == 1)
        #expect(String(decoding: log.body, as: UTF8.self) == (name == "HEAD" ? "" : "again"))
        #expect(log.metrics?.isConnectionReused == false)
        let last = try #require(server.record.requests.last)
        #expect(last.connection == 1)
        #expect(last.method == name)
        #expect(last.text == (name == "PUT" ? "content" : ""))
    }

    @Test(arguments: ["POST", "PATCH", "LOCK"], Death.allCases)
    func whatIsNotIsNeverSentTwice(name: String, death: Death) async throws {
        let server = try Self.server(death)
        let request = try Request.to(
            server.baseURL + "/2", method: #require(HTTPRequest.Method(name)), body: .text("order"))
        let log = try await withTransport { transport in
            #expect(try await transport.get(server.baseURL + "/1").text == "first")
            let log = try await Recording(transport.send(request)).ended()
            #expect(try await transport.get(server.baseURL + "/3").text == "again")
            return log
        }
        #expect([.connectionLost, .emptyReply].contains(log.error?.code))
        #expect(log.error?.isUnsent == false)
        #expect(log.error?.isIdempotent == false)
        #expect(log.ends.count == 1)
        let received = server.record.requests.filter { $0.method == name }.map(\.connection)
        #expect(received == (death == .resetUnread ? [] : [0]))
    }

    @Test func whatSaysThatItIsIdempotentIsSentAgain() async throws {
        let server = try Self.server(.closedAfterReading)
        var request = try Request.to(server.baseURL + "/2", method: .post, body: .text("order"))
        request.headerFields[.idempotencyKey] = "7"
        try await withTransport { transport in
            let first = try await transport.get(server.baseURL + "/1")
            #expect(first.text == "first")
            #expect(try await transport.answer(to: request).text == "again")
        }
        #expect(server.record.requests.filter { $0.method == "POST" }.map(\.text) == ["order", "order"])
    }

    /// Read to its end before the connection ends: the effect of a reset on a body under way is up to
    /// libcurl.
    @Test func aLargeBodyIsSentAgainFromItsBeginning() async throws {
        let server = try Self.server(.closedAfterReading)
        let bytes = Array(NginxServer.large.prefix(1 << 20))
        let log = try await withTransport { transport in
            #expect(try await transport.get(server.baseURL + "/1").text == "first")
            let request = try Request.to(server.baseURL + "/2", method: .put, body: .bytes(bytes))
            return try await Recording(transport.send(request)).ended()
        }
        #expect(String(decoding: log.body, as: UTF8.self) == "again")
        #expect(server.record.requests.last.map { Bytes($0.body) } == Bytes(bytes))
        #expect(log.uploaded == log.uploaded.sorted())
        #expect(log.uploaded.last == 1 << 20)
    }

    /// Such as the 408 that some servers send before they close an idle connection.
    @Test func anAnswerThatNobodyAskedForIsNotTakenForTheNext() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [
                .readRequest, .respond(body: "first"), .wait(gate), .respond(408, body: "late"),
                .waitForClientClose,
            ],
            [.readRequest, .respond(body: "again")],
        ])
        try await withTransport { transport in
            #expect(try await transport.get(server.baseURL + "/1").text == "first")
            let before = server.record.connections[0].bytesSent
            gate.open()
            _ = try await server.until { $0.connections[0].bytesSent > before ? true : nil }
            await transport.loop.poll()
            #expect(try await transport.get(server.baseURL + "/2").text == "again")
        }
    }

    @Test func aConnectionThatIsKnownToBeClosedIsNotTakenForAPost() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [.readRequest, .respond(body: "first"), .wait(gate), .reset],
            [.readRequest, .respond(body: "again")],
        ])
        try await withTransport { transport in
            #expect(try await transport.get(server.baseURL + "/1").text == "first")
            gate.open()
            _ = try await server.connectionEnded(0)
            await transport.loop.poll()
            let request = try Request.to(server.baseURL + "/2", method: .post, body: .text("order"))
            #expect(try await transport.answer(to: request).text == "again")
        }
        #expect(server.record.requests.map(\.connection) == [0, 1])
    }
}
