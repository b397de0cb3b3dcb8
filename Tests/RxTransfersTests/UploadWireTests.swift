import FoundationEssentials
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxTransfers

/// Uploads over sockets, to servers that were written from the texts of the protocols.
@Suite(.timeLimit(.minutes(2))) struct UploadWireTests {
    /// Content that differs at each place.
    static func content(_ count: Int) -> [UInt8] {
        var state: UInt32 = 7
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    static func options(partSize: Int64? = nil, retries: Int = 5) -> UploadMethod.Options {
        var options = UploadMethod.Options()
        options.partSize = partSize
        options.retries = retries
        options.backoff = .constant(.milliseconds(1))
        return options
    }

    static func client(_ baseURL: String) -> Client { Client(baseURL: baseURL) }

    /// The events of an upload to its end.
    static func events(
        _ client: Client, _ content: UploadContent, to path: String, by method: UploadMethod
    ) async throws -> [UploadEvent<Response>] {
        var events: [UploadEvent<Response>] = []
        for try await event in client.upload(content, to: .post(path), by: method)
            .values(buffering: .unbounded)
        {
            events.append(event)
        }
        return events
    }

    static func digest(_ bytes: [UInt8]) -> String { TransferDigest(of: bytes).fieldValue }

    // MARK: - The draft of the IETF

    /// One request, proven by the server's digest.
    @Test func draftWhole() async throws {
        var settings = DraftUploadServer.Settings()
        settings.digest = Self.digest
        settings.progressEvery = 20_000
        let server = try DraftUploadServer(settings)
        let folder = try TemporaryFolder()
        let content = Self.content(150_000)
        let path = try folder.file("film", content)
        let events = try await Self.events(
            Self.client(server.baseURL), .file(path), to: "/films", by: .resumable(options: Self.options()))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.uploads.first?.isComplete == true)
        #expect(try folder.names == ["film"])
        let proofs = events.compactMap { if case .verified(let digest) = $0 { digest } else { nil } }
        #expect(proofs == [TransferDigest(of: content)])
        guard case .finished(let response) = events.last else {
            Issue.record("no result")
            return
        }
        #expect(response.text == "150000")
        #expect(server.log.methods == ["POST"])
    }

    /// More informational responses than a transport admits for one request.
    @Test func draftProgressOfTheServer() async throws {
        var settings = DraftUploadServer.Settings()
        settings.progressEvery = 1
        let server = try DraftUploadServer(settings)
        let content = Self.content(4_000_000)
        var options = Self.options()
        options.digest = .none
        _ = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/films", by: .resumable(options: options))
        expectSame(server.uploads.map(\.bytes), [content])
    }

    /// Cuts at random places: no byte is received twice, and the content is the same.
    @Test(arguments: [1, 2, 3])
    func draftRandomCuts(seed: UInt64) async throws {
        var random = SeededRandom(seed)
        let content = Self.content(200_000)
        var settings = DraftUploadServer.Settings()
        settings.digest = Self.digest
        settings.faults = (0..<12).map { _ in .cut(after: Int.random(in: 1...25_000, using: &random)) }
        let server = try DraftUploadServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", content)
        let events = try await Self.events(
            Self.client(server.baseURL), .file(path), to: "/films", by: .resumable(options: Self.options()))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.log.received <= content.count * 101 / 100)
        #expect(server.log.overlaps == 0)
        #expect(try folder.names == ["film"])
        #expect(events.contains { if case .verified = $0 { true } else { false } })
    }

    /// Every fault of the server, and parts that a gateway limits.
    @Test func draftFaults() async throws {
        var settings = DraftUploadServer.Settings()
        settings.limits = ["min-append-size": 1000, "max-size": 1_000_000, "max-age": 3600]
        settings.otherLimits = "unknown=\"x\", other;a=1"
        settings.largestBody = 60_000
        settings.faults = [
            .none, .status(503), .cut(after: 100), .unanswered, .none, .status(500, ["Retry-After": "0"]),
        ]
        let server = try DraftUploadServer(settings)
        let content = Self.content(150_000)
        _ = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/films",
            by: .resumable(isKnown: true, options: Self.options(partSize: 100_000)))
        expectSame(server.uploads.filter(\.isComplete).map(\.bytes), [content])
        #expect(server.log.overlaps == 0)
    }

    /// The digest of each request.
    @Test func draftContentDigests() async throws {
        var settings = DraftUploadServer.Settings()
        settings.isDigest = { $0 == Self.digest($1) }
        let server = try DraftUploadServer(settings)
        let content = Self.content(100_000)
        var options = Self.options(partSize: 30_000)
        options.partDigest = .sha256
        _ = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/films", by: .resumable(options: options))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.log.entries.filter { $0.fields["content-digest"] != nil }.count == 4)
    }

    /// A server whose copy differs is found out.
    @Test func draftCorruption() async throws {
        var settings = DraftUploadServer.Settings()
        settings.digest = Self.digest
        settings.faults = [.corrupted]
        let server = try DraftUploadServer(settings)
        await #expect(throws: NetworkError.self) {
            try await Self.events(
                Self.client(server.baseURL), .bytes(Self.content(1000)), to: "/films",
                by: .resumable(options: Self.options()))
        }
    }

    /// Informational responses of another version are ignored, and ones that do not come are not needed.
    @Test(arguments: [UploadFault.interop("7"), .silent])
    func draftWithoutTheRight104(fault: UploadFault) async throws {
        var settings = DraftUploadServer.Settings()
        settings.faults = [fault]
        let server = try DraftUploadServer(settings)
        let content = Self.content(1000)
        _ = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/films",
            by: .resumable(options: Self.options()))
        expectSame(server.uploads.map(\.bytes), [content])
    }

    /// A stream of unknown length over a connection that is cut.
    @Test func draftStream() async throws {
        var settings = DraftUploadServer.Settings()
        settings.faults = [.none, .cut(after: 5000), .cut(after: 1)]
        let server = try DraftUploadServer(settings)
        let content = Self.content(200_000)
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            stride(from: 0, to: content.count, by: 7000).map {
                Array(content[$0..<min($0 + 7000, content.count)])
            })
        _ = try await Self.events(
            Self.client(server.baseURL), .stream(chunks), to: "/films",
            by: .resumable(options: Self.options(partSize: 50_000)))
        expectSame(server.uploads.map(\.bytes), [content])
    }

    // MARK: - tus

    /// A small upload goes with its creation; metadata arrive.
    @Test func tusSmall() async throws {
        let server = try TusServer()
        let content = Self.content(1000)
        let events = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/files",
            by: .tus(metadata: ["filename": "tea.jpg", "empty": ""], options: Self.options()))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.uploads.first?.metadata == "empty,filename dGVhLmpwZw==")
        #expect(server.log.methods == ["OPTIONS", "POST"])
        guard case .finished = events.last else {
            Issue.record("no result")
            return
        }
    }

    /// Cuts at random places: no byte is received twice, and the content is the same.
    @Test(arguments: [1, 2, 3])
    func tusRandomCuts(seed: UInt64) async throws {
        var random = SeededRandom(seed)
        let content = Self.content(200_000)
        var settings = TusServer.Settings()
        settings.faults = (0..<12).map { _ in .cut(after: Int.random(in: 1...25_000, using: &random)) }
        let server = try TusServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", content)
        _ = try await Self.events(
            Self.client(server.baseURL), .file(path), to: "/files",
            by: .tus(creationSize: 0, options: Self.options()))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.log.received <= content.count * 101 / 100)
        #expect(server.log.overlaps == 0)
        #expect(try folder.names == ["film"])
    }

    /// Checksums of requests: a wrong one is sent again, and all right ones prove the whole.
    @Test func tusChecksums() async throws {
        var settings = TusServer.Settings()
        settings.isChecksum = { $0 == "sha256 \(TransferDigest(of: $1).base64)" }
        settings.faults = [.none, .corrupted, .cut(after: 10)]
        let server = try TusServer(settings)
        let content = Self.content(100_000)
        var options = Self.options(partSize: 30_000)
        options.partDigest = .sha256
        let events = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/files",
            by: .tus(creationSize: 0, options: options))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(events.contains { if case .verified = $0 { true } else { false } })
    }

    /// A stream of unknown length, whose length follows with its last part.
    @Test func tusStream() async throws {
        var settings = TusServer.Settings()
        settings.faults = [.none, .unanswered]
        let server = try TusServer(settings)
        let content = Self.content(100_000)
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            stride(from: 0, to: content.count, by: 7000).map {
                Array(content[$0..<min($0 + 7000, content.count)])
            })
        _ = try await Self.events(
            Self.client(server.baseURL), .stream(chunks), to: "/files",
            by: .tus(options: Self.options(partSize: 30_000)))
        expectSame(server.uploads.map(\.bytes), [content])
        #expect(server.uploads.first?.length == content.count)
    }

    /// Limits of the server and of what stands before it.
    @Test func tusLimits() async throws {
        var settings = TusServer.Settings()
        settings.maxSize = 1000
        let server = try TusServer(settings)
        await #expect(throws: NetworkError.self) {
            try await Self.events(
                Self.client(server.baseURL), .bytes(Self.content(1001)), to: "/files",
                by: .tus(options: Self.options()))
        }
        #expect(server.log.methods == ["OPTIONS"])
        server.update {
            $0.maxSize = nil
            $0.largestBody = 20_000
            $0.refusesOptions = true
        }
        let content = Self.content(50_000)
        _ = try await Self.events(
            Self.client(server.baseURL), .bytes(content), to: "/files", by: .tus(options: Self.options()))
        expectSame(server.uploads.last?.bytes ?? [], content)
    }
}

/// Compares large contents; a difference is reported without them, since describing them takes minutes.
func expectSame<T: Equatable>(
    _ actual: T, _ expected: T, sourceLocation: SourceLocation = #_sourceLocation
) {
    let isSame = actual == expected
    #expect(isSame, "the contents differ", sourceLocation: sourceLocation)
}
