import Foundation
import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Servers that respond early, close or do not read; sources that are slow, change or are abandoned.
@Suite(.timeLimit(.minutes(1))) struct UploadFaultTests {
    /// More than the socket buffers of both sides can hold.
    static let large = [UInt8](repeating: 7, count: 32 << 20)

    enum Kind: String, CaseIterable, Sendable {
        case bytes, file, known, unknown, starving, starvingUnknown

        func body(_ directory: TemporaryFolder) throws -> Body {
            switch self {
            case .bytes: .bytes(large)
            case .file: .file(try directory.file("a", large))
            case .known: .stream(chunks, length: Int64(large.count))
            case .unknown: .stream(chunks)
            case .starving: .stream(.concat([.just([1, 2, 3]), .never()]), length: 10)
            case .starvingUnknown: .stream(.concat([.just([1, 2, 3]), .never()]))
            }
        }

        private var chunks: Observable<[UInt8], NetworkError> {
            .sequence(repeatElement([UInt8](large.prefix(64 << 10)), count: large.count / (64 << 10)))
        }
    }

    struct Early: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [RawServer.Step]
        var status = 413
    }

    static let refusal = "HTTP/1.1 413 Too Large\r\n"
    static let early = [
        Early(testDescription: "and reads no more", steps: [.readHead, .respond(413, body: "no"), .stall]),
        Early(
            testDescription: "says that it will close, and reads no more",
            steps: [.readHead, .respond(413, ["Connection": "close"], body: "no"), .stall]),
        Early(
            testDescription: "and closes in order",
            steps: [.readHead, .respond(413, ["Connection": "close"], body: "no"), .close]),
        Early(
            testDescription: "in chunks, and reads no more",
            steps: [
                .readHead, .send(refusal + "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n"), .stall,
            ]),
        Early(
            testDescription: "without content",
            steps: [.readHead, .send(refusal + "Content-Length: 0\r\nConnection: close\r\n\r\n"), .stall]),
        Early(
            testDescription: "with 304", steps: [.readHead, .send("HTTP/1.1 304 No\r\n\r\n"), .stall],
            status: 304),
    ]

    @Test(arguments: early, Kind.allCases)
    func anEarlyRefusalIsDelivered(_ answer: Early, to kind: Kind) async throws {
        let server = try RawServer([answer.steps, [.readRequest, .respond(body: "well")]])
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: .post, body: try kind.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.head?.status.code == answer.status)
            #expect(log.kinds.last == "finished")
            #expect(log.body.isEmpty || log.body == Array("no".utf8))
            #expect(log.kinds.filter { $0 == "finished" }.count == 1)
            #expect(try await transport.get(server.baseURL).text == "well")
        }
    }

    /// The server has responded and closes, which is allowed before it has read the rest.
    @Test(arguments: [Kind.bytes, .file, .known, .unknown])
    func anEarlySuccessIsDeliveredThoughTheServerCloses(_ kind: Kind) async throws {
        let answered = try Gate()
        let server = try RawServer([
            [.readHead, .respond(200, ["Connection": "close"], body: "yes"), .wait(answered), .reset]
        ])
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: .post, body: try kind.body(directory))
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.body.isEmpty ? nil : true }
            answered.open()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.body == Array("yes".utf8))
            #expect(log.kinds.last == "finished")
        }
    }

    @Test(arguments: [Kind.bytes, .file, .known, .unknown])
    func aResetWhileSendingIsAnError(_ kind: Kind) async throws {
        let server = try RawServer([[.readHead, .reset], [.readRequest, .respond(body: "well")]])
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: .post, body: try kind.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error?.code == .connectionLost)
            #expect(log.error?.isUnsent == false)
            #expect(try await transport.get(server.baseURL).text == "well")
        }
    }

    @Test func aServerThatDoesNotReadPausesTheSource() async throws {
        let gate = try Gate()
        let server = try RawServer([[.readHead, .wait(gate), .waitForClientClose]])
        try await withTransport { transport in
            try await expectPause(of: transport, to: server.baseURL, server, gate)
        }
    }

    /// The part that was read before the change is not completed by bytes from after it.
    @Test func aFileThatChangesWhileItIsSentFails() async throws {
        let gate = try Gate()
        let server = try RawServer([[.readHead, .wait(gate), .waitForClientClose]])
        let directory = try TemporaryFolder()
        let path = try directory.file("a", Self.large)
        try await withTransport { transport in
            var request = try Request.to(server.baseURL, method: .put, body: .file(path))
            // The server may wait longer than that for its turn.
            request.timeouts.idle = nil
            let recording = Recording(transport.send(request))
            _ = try await recording.until { $0.uploaded.isEmpty ? nil : true }
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seek(toOffset: UInt64(Self.large.count - 1))
            try file.write(contentsOf: Data([8]))
            try file.close()
            gate.open()
            let error = try #require(try await recording.ended().error)
            #expect(error.code == .file)
            #expect(error.message.contains("changed"))
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections[0].bytesDropped < Self.large.count)
        }
    }

    @Test func cancellingLeavesTheSource() async throws {
        let server = try RawServer([[.readHead, .waitForClientClose]])
        let left = Board(0)
        let source = Observable<[UInt8], NetworkError>.concat([.just([1]), .never()])
            .finally { left.update { $0 += 1 } }
        try await withTransport { transport in
            let recording = Recording(
                transport.send(try .to(server.baseURL, method: .post, body: .stream(source))))
            _ = try await server.until { $0.requests.first }
            _ = try await recording.until { $0.uploaded.isEmpty ? nil : true }
            recording.cancel()
            _ = try await left.until { $0 == 1 ? true : nil }
            _ = try await server.connectionEnded(0)
        }
    }

    /// curl sends again on a new connection if a reused one turns out to be closed.
    @Test(arguments: [true, false])
    func aBodyIsRewoundForCurlsSecondTry(isReplayable: Bool) async throws {
        let server = try RawServer([
            [.readRequest, .respond(body: "ok"), .readRequest, .reset],
            [.readRequest, .respond(body: "again")],
        ])
        let subscriptions = Board(0)
        let source = Observable<[UInt8], NetworkError>.deferred { () throws(NetworkError) in
            subscriptions.update { $0 += 1 }
            return .sequence([[1, 2, 3], [4, 5]])
        }
        try await withTransport { transport in
            _ = try await transport.get(server.baseURL)
            let body = Body.stream(source, length: 5, isReplayable: isReplayable)
            let log = try await Recording(transport.send(try .to(server.baseURL, method: .put, body: body)))
                .ended()
            if isReplayable {
                #expect(log.error == nil)
                #expect(server.record.requests.last?.body == [1, 2, 3, 4, 5])
                #expect(subscriptions.contents <= 2)
            } else {
                #expect(log.error?.code == .connectionLost)
                #expect(log.error?.isReplayable == false)
                #expect(subscriptions.contents <= 1)
            }
        }
    }

    @Test func progressOfAStreamEndsWithAllOfIt() async throws {
        let server = try RawServer { _ in [.respond(body: "ok")] }
        try await withTransport { transport in
            let pieces = [[UInt8]](repeating: [UInt8](repeating: 1, count: 1000), count: 1000)
            let events = try await transport.send(
                try .to(server.baseURL, method: .post, body: .stream(.sequence(pieces)))
            ).collect().value()
            let reports = events.compactMap { event -> (Int64, Int64?)? in
                if case .uploaded(let bytes, let total) = event { (bytes, total) } else { nil }
            }
            #expect(reports.last?.0 == 1_000_000)
            #expect(reports.allSatisfy { $0.1 == nil })
            #expect(zip(reports, reports.dropFirst()).allSatisfy { $0.0 < $1.0 })
        }
    }
}
