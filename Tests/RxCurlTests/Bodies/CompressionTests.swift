import Foundation
import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// Bodies that are compressed while they are sent, checked with gunzip.
@Suite(.timeLimit(.minutes(1))) struct CompressionTests {
    static let content = Array(String(repeating: "green tea, black tea, white tea\n", count: 40_000).utf8)

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var body: @Sendable (TemporaryFolder) throws -> Body
        var expected: [UInt8]
        var isChunked = true
    }

    static let cases = [
        Case(
            testDescription: "a word", body: { _ in .text("tea") }, expected: Array("tea".utf8),
            isChunked: false),
        Case(testDescription: "bytes", body: { _ in .bytes(content) }, expected: content, isChunked: false),
        Case(testDescription: "a file", body: { .file(try $0.file("a", content)) }, expected: content),
        Case(testDescription: "an empty file", body: { .file(try $0.file("a", [])) }, expected: []),
        Case(
            testDescription: "many small chunks",
            body: { _ in .stream(.sequence(content.prefix(5000).map { [$0] })) },
            expected: Array(content.prefix(5000))),
        Case(
            testDescription: "content that does not shrink", body: { .file(try $0.file("a", noise)) },
            expected: noise),
    ]

    static let noise: [UInt8] = {
        var generator = SystemRandomNumberGenerator()
        return (0..<500_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }()

    @Test(arguments: cases)
    func arrives(_ item: Case) async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            var request = try Request.to(server.baseURL, method: .post, body: try item.body(directory))
            request.compressesContent = true
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            let received = try #require(server.record.requests.first)
            #expect(received.field("Content-Encoding") == "gzip")
            #expect(received.field("Transfer-Encoding") == (item.isChunked ? "chunked" : nil))
            #expect(received.field("Content-Length") == (item.isChunked ? nil : "\(received.body.count)"))
            #expect(try await Bytes(gunzip(received.body, in: directory)) == Bytes(item.expected))
            if item.expected.count == Self.content.count {
                #expect(received.body.count < Self.content.count / 20)
            }
        }
    }

    @Test func nothingIsNotCompressed() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            for body in [Body.empty, .bytes([])] {
                var request = try Request.to(server.baseURL, method: .post, body: body)
                request.compressesContent = true
                #expect(try await Recording(transport.send(request)).ended().error == nil)
            }
            #expect(
                server.record.requests.allSatisfy { $0.field("Content-Encoding") == nil && $0.body.isEmpty })
        }
    }

    @Test func aFailureOfTheSourceIsTheRequests() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            let source = Observable<[UInt8], NetworkError>.concat([
                .just(Self.content), .fail(.init(.noContent, "x")),
            ])
            var request = try Request.to(server.baseURL, method: .post, body: .stream(source))
            request.compressesContent = true
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error?.code == .noContent)
            #expect(server.record.requests.isEmpty)
        }
    }

    @Test func theFieldIsTheTransports() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL, method: .post, body: .text("x"))
            request.compressesContent = true
            request.headerFields[.contentEncoding] = "br"
            #expect(try await Recording(transport.send(request)).ended().error?.code == .invalidHeader)
        }
    }

    /// With the machine's gunzip, which checks length and checksum, too.
    private func gunzip(_ bytes: [UInt8], in directory: TemporaryFolder) async throws -> [UInt8] {
        let gzip = try ChildProcess("/bin/gzip", ["-dfk", try directory.file("body.gz", bytes)])
        #expect(try await gzip.ended().ending == .exited(0))
        return try directory.content("body")
    }
}
