import HTTPTypes
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxCurl

/// Requests that a server has certainly not processed are sent again, whatever their method; others are not
/// (RFC 9113 §8.7).
@Suite(.timeLimit(.minutes(1))) struct HTTP2RefusalTests {
    /// The server's response to the stream, after it has read the whole request.
    enum Act: String, CaseIterable {
        case refuses, goesAwayBefore, goesAwayBeforeWithError
        case goesAwayAfter, goesAwayAfterWithError, cancels, fails, closes, resets, requiresHTTP1

        /// Whether the server has certainly not processed the request.
        var isRefusal: Bool { [.refuses, .goesAwayBefore, .goesAwayBeforeWithError].contains(self) }

        func steps(on stream: UInt8) -> [RawServer.Step] {
            let before = stream > 2 ? stream - 2 : 0
            return switch self {
            case .refuses: [.send(Frame.reset(7, stream: stream)), .waitForClientClose]
            case .goesAwayBefore: [.send(Frame.goAway(last: before, 0)), .waitForClientClose]
            case .goesAwayBeforeWithError: [.send(Frame.goAway(last: before, 2)), .waitForClientClose]
            case .goesAwayAfter: [.send(Frame.goAway(last: stream, 0)), .close]
            case .goesAwayAfterWithError: [.send(Frame.goAway(last: stream, 2)), .close]
            case .cancels: [.send(Frame.reset(8, stream: stream)), .waitForClientClose]
            case .fails: [.send(Frame.reset(2, stream: stream)), .waitForClientClose]
            case .closes: [.close]
            case .resets: [.reset]
            case .requiresHTTP1: [.send(Frame.reset(13, stream: stream)), .waitForClientClose]
            }
        }
    }

    private static let opening: [RawServer.Step] = [
        .send(Frame.settings + Frame.acknowledged), .readStream,
    ]
    private static func answer(on stream: UInt8 = 1, _ text: String = "enough") -> [UInt8] {
        Frame.head(stream: stream) + Frame.data(text, endsStream: true, stream: stream)
    }
    private static let success = opening + [.send(answer()), .waitForClientClose]

    private func send(
        _ method: HTTPRequest.Method, _ body: Body, after first: Bool = false, to scripts: [[RawServer.Step]]
    ) async throws -> (Recording.Log, [RawServer.Request]) {
        let server = try RawServer(scripts)
        return try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            if first { #expect(try await transport.get(server.baseURL).text == "first") }
            var request = try Request.to(server.baseURL, method: method, body: body)
            request.timeouts.idle = .seconds(10)
            let log = try await Recording(transport.send(request)).ended()
            return (log, server.record.requests)
        }
    }

    private func expect(_ act: Act, _ log: Recording.Log, _ requests: [RawServer.Request], first: Int = 0) {
        if act.isRefusal {
            #expect(log.error == nil)
            #expect(log.body == Array("enough".utf8))
            #expect(log.kinds.count { $0 == "head" } == 1)
            #expect(requests.map(\.text).dropFirst(first) == ["order", "order"])
        } else {
            #expect([.connectionLost, .emptyReply].contains(log.error?.code))
            #expect(log.error?.isUnsent == false)
            #expect(requests.map(\.text).dropFirst(first) == ["order"])
        }
    }

    @Test(arguments: Act.allCases)
    func onANewConnection(act: Act) async throws {
        let (log, requests) = try await send(
            .post, .text("order"), to: [Self.opening + act.steps(on: 1), Self.success])
        expect(act, log, requests)
    }

    /// Plain HTTP/2 connections are used again from 8.4 on.
    @Test(.enabled(if: !LibcurlFeatures.running.has(.breaksReusedPlainHTTP2)), arguments: Act.allCases)
    func onAReusedConnection(act: Act) async throws {
        let reused =
            Self.opening + [.send(Self.answer("first")), .readStream] + act.steps(on: 3)
        let (log, requests) = try await send(
            .post, .text("order"), after: true, to: [reused, Self.success])
        expect(act, log, requests, first: 1)
    }

    @Test(arguments: [Act.refuses, .goesAwayBefore])
    func aGetToo(act: Act) async throws {
        let (log, requests) = try await send(
            .get, .empty, to: [Self.opening + act.steps(on: 1), Self.success])
        #expect(log.body == Array("enough".utf8))
        #expect(requests.count == 2)
    }

    /// Once the response has begun, the request has been processed.
    @Test(arguments: [2, 8] as [UInt8])
    func notAfterTheHead(code: UInt8) async throws {
        let broken =
            Self.opening + [.send(Frame.head() + Frame.data("some", endsStream: false) + Frame.reset(code))]
        let (log, requests) = try await send(
            .post, .text("order"), to: [broken + [.waitForClientClose], Self.success])
        #expect([.connectionLost, .partialBody].contains(log.error?.code))
        #expect(requests.count == 1)
    }

    private static func order(isReplayable: Bool) -> Body {
        let chunks: [[UInt8]] = [Array("or".utf8), Array("der".utf8)]
        return .streamed(
            StreamedBody(isReplayable: isReplayable) { _ in
                .just(.init(length: 5, chunks: .sequence(chunks)))
            })
    }

    /// Streamed content arrives whole again, unless it can be read only once.
    @Test(arguments: [true, false], [Act.refuses, .goesAwayBefore])
    func streamedContent(isReplayable: Bool, act: Act) async throws {
        let (log, requests) = try await send(
            .post, Self.order(isReplayable: isReplayable),
            to: [Self.opening + act.steps(on: 1), Self.success])
        if isReplayable {
            expect(act, log, requests)
        } else {
            #expect(log.error?.code == .connectionLost)
            #expect(requests.map(\.text) == ["order"])
        }
    }

    /// A server that refuses everything is not asked for ever.
    @Test func theNumberOfRepeatsIsBounded() async throws {
        let (log, requests) = try await send(
            .post, .text("order"), to: [Self.opening + Act.refuses.steps(on: 1)])
        #expect(log.error?.code == .connectionLost)
        #expect(requests.count > 2)
        #expect(requests.count <= 102)
    }
}
