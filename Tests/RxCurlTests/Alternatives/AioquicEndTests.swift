import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Streams and connections over HTTP/3 that end early, with aioquic.
@Suite(
    .enabled(if: LibcurlFeatures.running.hasHTTP3 && AioquicServer.isInstalled), .serialized,
    .timeLimit(.minutes(3)))
struct AioquicEndTests {
    /// Error codes of HTTP/3 (RFC 9114 §8.1).
    private enum Code {
        static let noError = 0x100
        static let internalError = 0x102
        static let requestRejected = 0x10b
        static let requestCancelled = 0x10c
    }

    /// Expects that a response that has been received in part ends with an error after `end`.
    private func expectLoss(
        hasLength: Bool = false, by end: (AioquicServer) async throws -> Void
    ) async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            var request = try Request.to(server.baseURL + (hasLength ? "/stall?count=100" : "/stall"))
            request.timeouts.idle = .seconds(2)
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.body.isEmpty ? nil : true }
            try await end(server)
            let log = try await recording.ended()
            #expect([.connectionLost, .partialBody, .idleTimeout].contains(log.error?.code))
            #expect(log.error?.isUnsent == false)
            #expect(log.body == Array("some".utf8))
            #expect(!log.kinds.contains("finished"))
        }
    }

    // MARK: - By the client

    @Test(arguments: [true, false]) func theServerHearsOfACancel(hasOthers: Bool) async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let recording = Recording(transport.send(try .to(server.baseURL + "/stall")))
            _ = try await recording.until { $0.body.isEmpty ? nil : true }
            let stays = hasOthers ? Recording(transport.send(try .to(server.baseURL + "/stall"))) : nil
            _ = try await stays?.until { $0.body.isEmpty ? nil : true }
            recording.cancel()
            if let stays {
                #expect(try await server.events("stopped").first?[1] == "0")
                try server.give(.finish)
                #expect(try await stays.ended().body == Array("some more".utf8))
                #expect(server.count(of: "closed") == 0)
            } else {
                _ = try await server.log.until { lines in
                    lines.first { $0.hasPrefix("stopped 1 0 ") || $0.hasPrefix("closed 1 ") }
                }
            }
            #expect(!recording.hasEnded)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
    }

    @Test func aCancelInTheMiddleOfALargeBodyStopsIt() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let stays = Recording(transport.send(try .to(server.baseURL + "/stall")))
            _ = try await stays.until { $0.body.isEmpty ? nil : true }
            let url = server.baseURL + "/large?count=\(1 << 30)"
            let recording = Recording(transport.send(try .to(url))) { event, subscription in
                if case .chunk = event { subscription.cancel() }
            }
            #expect(try await server.events("stopped").first?[1] == "4")
            #expect(!recording.hasEnded)
            try server.give(.finish)
            #expect(try await stays.ended().body == Array("some more".utf8))
        }
    }

    @Test func theServerHearsOfACancelledUpload() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let stays = Recording(transport.send(try .to(server.baseURL + "/stall")))
            _ = try await stays.until { $0.body.isEmpty ? nil : true }
            let body = Body.stream(.concat([.just([1, 2, 3]), .never()]))
            let recording = Recording(
                transport.send(try .to(server.baseURL + "/upload", method: .post, body: body)))
            _ = try await recording.until { $0.uploaded.isEmpty ? nil : true }
            try await server.events("request", atLeast: 2)
            recording.cancel()
            #expect(try await server.events("reset").first?[1] == "4")
            try server.give(.finish)
            #expect(try await stays.ended().body == Array("some more".utf8))
        }
    }

    // MARK: - By the server

    @Test func aServerThatDiesInTheMiddleOfABody() async throws {
        try await expectLoss { try await $0.kill() }
    }

    @Test(arguments: [Code.internalError, Code.requestRejected, Code.requestCancelled], [true, false])
    func aStreamThatIsResetInTheMiddleOfABody(code: Int, hasLength: Bool) async throws {
        try await expectLoss(hasLength: hasLength) { try $0.give(.reset(code)) }
    }

    /// libcurl does not tell this from the end of the stream, so that only the length reveals the loss.
    @Test func aStreamThatIsResetWithoutAnError() async throws {
        try await expectLoss(hasLength: true) { try $0.give(.reset(Code.noError)) }
        await withKnownIssue {
            try await expectLoss(hasLength: false) { try $0.give(.reset(Code.noError)) }
        }
    }

    @Test(arguments: [0, Code.noError, Code.internalError])
    func aConnectionThatIsClosedInTheMiddleOfABody(code: Int) async throws {
        try await expectLoss { try $0.give(.close(code)) }
    }

    @Test(arguments: [Code.noError, Code.internalError, Code.requestCancelled])
    func aStreamThatIsResetBeforeTheHead(code: Int) async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let recording = Recording(
                transport.send(try .to(server.baseURL + "/silent", method: .post, body: .bytes([1]))))
            try await server.events("request")
            try server.give(.reset(code))
            let error = try #require(try await recording.ended().error)
            #expect([.connectionLost, .emptyReply].contains(error.code))
            #expect(!error.isUnsent)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
    }

    @Test(arguments: ["/short", "/cut"]) func aBodyThatEndsTooEarly(path: String) async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let log = try await Recording(transport.send(try .to(server.baseURL + path))).ended()
            #expect([.connectionLost, .partialBody, .invalidResponse].contains(log.error?.code))
            #expect(log.error?.isUnsent == false)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
    }

    @Test func aResetLeavesTheOtherStreamsAlone() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let recording = Recording(transport.send(try .to(server.baseURL + "/stall")))
            _ = try await recording.until { $0.body.isEmpty ? nil : true }
            let other = Recording(transport.send(try .to(server.baseURL + "/large?count=3000000")))
            _ = try await other.until { $0.body.isEmpty ? nil : true }
            try server.give(.reset(Code.internalError))
            #expect(try await recording.ended().error != nil)
            let log = try await other.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Bytes(Array(NginxServer.large.prefix(3_000_000))))
        }
    }

    // MARK: - Rejected requests and closed connections

    /// libcurl does not tell `H3_REQUEST_REJECTED` from other errors, so that the request may have been
    /// processed.
    @Test func aRejectedRequestIsAnError() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let log = try await Recording(transport.send(try .to(server.baseURL + "/rejected"))).ended()
            #expect(log.error?.code == .connectionLost)
            #expect(log.error?.isUnsent == false)
            #expect(log.error?.message.contains("refused") == false)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
    }

    @Test(arguments: [true, false]) func aServerThatGoesAwayLosesNothing(isBusy: Bool) async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
            let stays = isBusy ? Recording(transport.send(try .to(server.baseURL + "/stall"))) : nil
            _ = try await stays?.until { $0.body.isEmpty ? nil : true }
            try server.give(.goAway)
            // An idle connection is not read until it is reused.
            try await server.events(isBusy ? "acknowledged" : "goaway")
            for _ in 0..<2 { #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3") }
            let connections = try await server.connections(afterRequests: isBusy ? 4 : 3)
            #expect(connections == 2)
            try server.give(.finish)
            if let stays { #expect(try await stays.ended().body == Array("some more".utf8)) }
        }
    }

    @Test func aConnectionThatIsClosedWhileIdleIsReplaced() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            for count in 1...3 {
                #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
                let connections = try await server.connections(afterRequests: count)
                #expect(connections == count)
                try server.give(.close(Code.noError))
                try await server.events("closed", atLeast: count)
            }
        }
    }
}
