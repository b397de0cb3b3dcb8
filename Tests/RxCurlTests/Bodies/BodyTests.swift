import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// The bytes on the wire, for each kind of body.
@Suite(.timeLimit(.minutes(1))) struct BodyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: @Sendable (TemporaryFolder) throws -> Body
        var expected: [UInt8]
        var isChunked = false
    }

    static let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    static let cases = [
        Case(testDescription: "a file", body: { .file(try $0.file("a", content)) }, expected: content),
        Case(testDescription: "an empty file", body: { .file(try $0.file("a", [])) }, expected: []),
        Case(
            testDescription: "part of a file", body: { .file(try $0.file("a", content), range: 3..<400_003) },
            expected: Array(content[3..<400_003])),
        Case(
            testDescription: "no bytes of a file", body: { .file(try $0.file("a", content), range: 3..<3) },
            expected: []),
        Case(
            testDescription: "chunks of known length",
            body: { _ in .stream(.sequence(pieces), length: Int64(content.count)) }, expected: content),
        Case(
            testDescription: "chunks of unknown length", body: { _ in .stream(.sequence(pieces)) },
            expected: content, isChunked: true),
        Case(testDescription: "no chunks", body: { _ in .stream(.empty()) }, expected: [], isChunked: true),
        Case(
            testDescription: "empty chunks", body: { _ in .stream(.sequence([[], [1], [], [2], []])) },
            expected: [1, 2], isChunked: true),
        Case(
            testDescription: "no chunks of length 0", body: { _ in .stream(.empty(), length: 0) },
            expected: []),
        Case(testDescription: "many bytes", body: { _ in .bytes(content) }, expected: content),
        Case(
            testDescription: "chunks from another thread",
            body: { _ in
                .stream(.async { () async throws(NetworkError) in content }, length: Int64(content.count))
            }, expected: content),
    ]

    /// Sizes from 0 up.
    static let pieces: [[UInt8]] = {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < content.count {
            let end = min(content.count, start + pieces.count)
            pieces.append(Array(content[start..<end]))
            start = end
        }
        return pieces
    }()

    @Test(arguments: cases, ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
    func arrives(_ item: Case, method: String) async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        let name = try #require(HTTPRequest.Method(method))
        let log = try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: name, body: try item.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(try await transport.get(server.baseURL).text == "ok")
            return log
        }
        #expect(log.error == nil)
        let request = try #require(server.record.requests.first)
        #expect(request.method == method)
        #expect(Bytes(request.body) == Bytes(item.expected))
        #expect(request.field("Content-Length") == (item.isChunked ? nil : "\(item.expected.count)"))
        #expect(request.field("Transfer-Encoding") == (item.isChunked ? "chunked" : nil))
        #expect(request.field("Expect") == nil)
        #expect(request.field("Content-Type") == nil)
        #expect(log.uploaded.last ?? 0 == Int64(item.expected.count))
        // Both on one connection: nothing of the body was left over.
        #expect(server.record.requests.map(\.connection) == [0, 0])
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: @Sendable (TemporaryFolder) throws -> Body
        var code: NetworkError.Code
        var isUnsent = false
    }

    static let flaws = [
        Flaw(
            testDescription: "a missing file", body: { .file($0.file("none")) }, code: .file,
            isUnsent: true),
        Flaw(testDescription: "a directory", body: { .file($0.path) }, code: .file, isUnsent: true),
        Flaw(
            testDescription: "more of a file than there is",
            body: { .file(try $0.file("a", [1, 2]), range: 1..<3) }, code: .file, isUnsent: true),
        Flaw(
            testDescription: "a negative range", body: { .file(try $0.file("a", [1, 2]), range: -1..<1) },
            code: .file, isUnsent: true),
        Flaw(
            testDescription: "a byte less than announced",
            body: { _ in .stream(.sequence(pieces), length: Int64(content.count + 1)) }, code: .bodyLength),
        Flaw(
            testDescription: "a byte more than announced",
            body: { _ in .stream(.sequence(pieces), length: Int64(content.count - 1)) }, code: .bodyLength),
        Flaw(
            testDescription: "a byte where none was announced",
            body: { _ in .stream(.just([1]), length: 0) }, code: .bodyLength, isUnsent: true),
        Flaw(
            testDescription: "a source that fails after some, of known length",
            body: { _ in .stream(.concat([.sequence(pieces), .fail(broken)]), length: 1 << 20) },
            code: .noContent),
        Flaw(
            testDescription: "a source that fails after some, of unknown length",
            body: { _ in .stream(.concat([.sequence(pieces), .fail(broken)])) }, code: .noContent),
        Flaw(
            testDescription: "a source that fails at once", body: { _ in .stream(.fail(broken)) },
            code: .noContent),
        Flaw(
            testDescription: "a body without content",
            body: { _ in .streamed(StreamedBody(isReplayable: true) { _ in .empty() }) },
            code: .invalidParameters, isUnsent: true),
    ]

    static let broken = NetworkError(.noContent, "broken")

    /// No server takes an incomplete body for a complete one.
    @Test(arguments: flaws)
    func aFlawedBodyIsNoSuccess(_ flaw: Flaw) async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        let log = try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: .post, body: try flaw.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(try await transport.get(server.baseURL).text == "ok")
            return log
        }
        let error = try #require(log.error)
        #expect(error.code == flaw.code)
        #expect(error.isUnsent == flaw.isUnsent)
        #expect(error.method == .post)
        #expect(error.url != nil)
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
        #expect(server.record.requests.map(\.method) == ["GET"])
    }
}
