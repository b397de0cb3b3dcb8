import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// Streams and connections that a server ends early, frame by frame (RFC 9113), without TLS.
@Suite(.timeLimit(.minutes(1))) struct HTTP2FaultTests {
    /// Responds when the client has sent the bytes before its first stream, and some of the stream: the
    /// preface, SETTINGS with three settings, WINDOW_UPDATE.
    private static func connection(
        _ frames: [UInt8]..., then end: RawServer.Step = .waitForClientClose
    ) -> [RawServer.Step] {
        let preface = 24 + (9 + 18) + (9 + 4)
        return [.drop(preface + 9), .send(frames.reduce(Frame.settings + Frame.acknowledged, +)), end]
    }

    private func send(
        _ method: HTTPRequest.Method, _ scripts: [RawServer.Step]...
    ) async throws -> (Recording.Log, connections: Int) {
        let server = try RawServer(scripts)
        return try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            let body: Body = method == .get ? .empty : .bytes(UploadFaultTests.large)
            let request = try Request.to(server.baseURL, method: method, body: body)
            let log = try await Recording(transport.send(request)).ended()
            return (log, server.record.connections.count)
        }
    }

    /// INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM.
    @Test(arguments: [2, 8, 11] as [UInt8], [HTTPRequest.Method.get, .put, .post])
    func aResetStreamIsAnError(code: UInt8, method: HTTPRequest.Method) async throws {
        let (log, connections) = try await send(method, Self.connection(Frame.reset(code)))
        #expect(log.error?.code == .connectionLost)
        #expect(log.error?.isUnsent == false)
        #expect(connections == 1)
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .post])
    func aStreamResetInTheBodyIsNoWholeBody(method: HTTPRequest.Method) async throws {
        let (log, connections) = try await send(
            method,
            Self.connection(
                Frame.ok, Frame.data("some", endsStream: false), Frame.reset(2)))
        #expect([.connectionLost, .partialBody].contains(log.error?.code))
        #expect(log.metrics == nil)
        #expect(connections == 1)
    }

    /// The server has completed its response and needs no more of the request: NO_ERROR (RFC 9113 §8.1).
    /// libcurl 7.88 does not read that any more; in one piece with the response, it would lose the response.
    @Test func anAnswerAndAResetWithoutErrorAreASuccess() async throws {
        let gate = try Gate()
        let answer = Frame.ok + Frame.data("enough", endsStream: true)
        let server = try RawServer([
            Self.connection(answer, then: .wait(gate)) + [.send(Frame.reset(0)), .waitForClientClose]
        ])
        try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            let body = Body.bytes(UploadFaultTests.large)
            let recording = Recording(
                transport.send(try .to(server.baseURL, method: .post, body: body)))
            _ = try await recording.until { $0.body.count == 6 ? true : nil }
            gate.open()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.body == Array("enough".utf8))
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .post])
    func aConnectionThatGoesAwayIsAnError(method: HTTPRequest.Method) async throws {
        let (log, _) = try await send(
            method,
            Self.connection(Frame.ok, Frame.goAway(last: 1, 2), then: .close))
        #expect([.connectionLost, .partialBody].contains(log.error?.code))
        #expect(log.metrics == nil)
    }
}
