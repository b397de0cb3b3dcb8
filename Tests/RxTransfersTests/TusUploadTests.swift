import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxTransfers

/// tus 1.0.0 in virtual time, rule by rule.
@Suite struct TusUploadTests {
    private static let place = ["Location": "/files/7", "Tus-Resumable": "1.0.0"]
    private static let options = ScriptedTransport.Reply.reply(
        204,
        [
            "Tus-Version": "1.0.0, 0.2.2",
            "Tus-Extension": "creation, creation-with-upload, termination,checksum",
            "Tus-Checksum-Algorithm": "sha1,sha256",
        ])

    /// Creation, content, end; the result is made from the last response.
    @Test func creation() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .reply(204, ["Upload-Offset": "100"]),
        ])
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 204"])
        #expect(
            fixture.sent("Tus-Resumable", "Upload-Length", "Upload-Offset", "Content-Type") == [
                "OPTIONS /films", "POST /films Tus-Resumable=1.0.0 Upload-Length=100",
                "PATCH /files/7 Tus-Resumable=1.0.0 Upload-Offset=0 Content-Type=application/offset+octet-stream",
            ])
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// A server without OPTIONS takes plain creations.
    @Test(arguments: [404, 405, 200])
    func withoutDiscovery(status: Int) throws {
        let fixture = UploadFixture([
            .reply(status), .reply(201, Self.place), .reply(204, ["Upload-Offset": "100"]),
        ])
        let recorder = fixture.start(by: .plainTus(creationSize: 1000))
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.counts == [0, 0, 100])
    }

    /// Content with the creation, where the server offers it; it may take a part only.
    @Test func creationWithUpload() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place.merging(["Upload-Offset": "30"]) { $1 }),
            .reply(204, ["Upload-Offset": "100"]),
        ])
        let recorder = fixture.start(by: .plainTus(creationSize: 1000))
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.counts == [0, 100, 70])
    }

    /// Another version of the protocol is refused.
    @Test func otherVersion() throws {
        let fixture = UploadFixture([.reply(204, ["Tus-Version": "0.2.2"])])
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
    }

    /// An offset that goes backwards, or beyond what was sent, fails.
    @Test(arguments: ["101", "-1", "x", ""])
    func wrongOffsets(offset: String) throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .reply(204, ["Upload-Offset": offset]), .reply(204),
        ])
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
    }

    /// A stream with more bytes than it announces fails, even if the server has as many as announced.
    @Test func longerStream() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .reply(204, ["Upload-Offset": "45"]),
            .reply(204, ["Upload-Offset": "90"]),
        ])
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            stride(from: 0, to: 100, by: 10).map { Array(UploadFixture.content[$0..<($0 + 10)]) })
        let recorder = fixture.start(.stream(chunks, length: 90), by: .plainTus(partSize: 45))
        try fixture.clock.run()
        #expect(recorder.failure?.code == .bodyLength)
    }

    /// A server that accepts nothing does not lead to endless requests.
    @Test func noProgress() throws {
        let fixture = UploadFixture { request, index in
            switch request.method {
            case .options: Self.options
            case .post: .reply(201, Self.place)
            default: .reply(204, ["Upload-Offset": "0"])
            }
        }
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidResponse)
        #expect(fixture.transport.requests.count < 12)
    }

    /// A server that forgets what it had does not lead to endless requests: bytes that were there before are no progress.
    @Test func noNewProgress() throws {
        let fixture = UploadFixture { request, index in
            switch request.method {
            case .options: Self.options
            case .post: .reply(201, Self.place)
            case .head: .reply(200, ["Upload-Offset": "0"])
            default:
                request.headerFields[.uploadOffset] == "0"
                    ? .reply(204, ["Upload-Offset": "50"]) : .failure(.connectionLost)
            }
        }
        let recorder = fixture.start(by: .plainTus(partSize: 50))
        try fixture.clock.advance(by: .seconds(100))
        #expect(recorder.failure?.code == .connectionLost)
    }

    /// The statuses after which the offset is asked for, begun anew, or given up.
    @Test(arguments: [
        (423, true), (460, true), (500, true), (429, true), (403, false), (415, false), (401, false),
    ])
    func statuses(status: Int, isOvercome: Bool) throws {
        let fixture = UploadFixture { request, index in
            switch request.method {
            case .options: Self.options
            case .post: .reply(201, Self.place)
            case .head: .reply(200, ["Upload-Offset": "0", "Upload-Length": "100"])
            default: index == 2 ? .reply(status) : .reply(204, ["Upload-Offset": "100"])
            }
        }
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.isFinished == isOvercome)
    }

    /// A question for the offset that is answered with 403 says that the upload has been removed: it is begun anew.
    @Test func forbiddenQuestion() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .failure(.connectionLost), .reply(403),
            .reply(201, ["Location": "/files/8"]), .reply(204, ["Upload-Offset": "100"]),
        ])
        let recorder = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(fixture.sent().last == "PATCH /files/8")
    }

    /// Checksums are sent with the algorithm that is wanted, or else the strongest that the server offers.
    @Test(
        arguments: [
            ("sha1,sha256", .sha256, .sha256),
            ("sha1,sha256", .crc32, .sha256), ("sha1", .sha256, .sha1), ("md5, sha1", .crc32, .sha1),
            ("whirlpool", .sha256, nil),
        ] as [(String, TransferDigest.Algorithm, TransferDigest.Algorithm?)])
    func checksums(
        offered: String, wanted: TransferDigest.Algorithm, sent: TransferDigest.Algorithm?
    ) throws {
        let options = ScriptedTransport.Reply.reply(
            204,
            [
                "Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum",
                "Tus-Checksum-Algorithm": offered,
            ])
        let fixture = UploadFixture([
            options, .reply(201, Self.place), .reply(204, ["Upload-Offset": "100"]),
        ])
        var method = UploadMethod.plainTus()
        method.options.partDigest = wanted
        method.options.digest = .computed(.sha256)
        let recorder = fixture.start(by: method)
        try fixture.clock.run()
        let expected = sent.map { algorithm in
            (TusDialect.name(of: algorithm) ?? "") + " "
                + TransferDigest(of: UploadFixture.content, algorithm).base64
        }
        #expect(fixture.transport.requests.last?.headerFields[.uploadChecksum] == expected)
        #expect(recorder.kinds.contains("verified sha-256") == (sent != nil))
    }

    /// Another run asks which checksums the server knows, and sends them.
    @Test func checksumsInAnotherRun() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .stall, Self.options,
            .reply(200, ["Upload-Offset": "40"]), .reply(204, ["Upload-Offset": "100"]),
        ])
        var method = UploadMethod.plainTus()
        method.options.partDigest = .sha256
        let first = fixture.start(by: method)
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        try fixture.clock.advance(by: .seconds(1))
        let second = fixture.start(by: method)
        try fixture.clock.run()
        #expect(second.isFinished, "\(String(describing: second.failure))")
        let digest = TransferDigest(of: UploadFixture.content[40...], .sha256).base64
        #expect(fixture.transport.requests.last?.headerFields[.uploadChecksum] == "sha256 \(digest)")
    }

    /// An upload that the server has removed by its own word (`Upload-Expires`) is begun anew, without a question; each
    /// response may move that time.
    @Test(arguments: [(false, 200, false), (false, 90, true), (true, 200, true), (true, 900, false)])
    func expiry(isMoved: Bool, seconds: Int, goesOn: Bool) throws {
        let clock = VirtualScheduler()
        // The weekday is not compared.
        func date(_ seconds: Double) -> String {
            let style = Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .space)
            let words = clock.currentDate.addingTimeInterval(seconds).formatted(style).split(separator: " ")
            let (day, time) = (words[0].split(separator: "-"), words[1].prefix(8))
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            return "Thu, \(day[2]) \(months[(Int(day[1]) ?? 1) - 1]) \(day[0]) \(time) GMT"
        }
        let (first, moved) = (date(100), date(800))
        let fixture = UploadFixture(on: clock) { request, index in
            switch request.method {
            case .options: Self.options
            case .post: .reply(201, Self.place.merging(["Upload-Expires": first]) { $1 })
            case .head: .reply(200, ["Upload-Offset": "50", "Upload-Length": "100"])
            default:
                request.headerFields[.uploadOffset] == "0"
                    ? .reply(204, ["Upload-Offset": "50", "Upload-Expires": isMoved ? moved : first])
                    : index < 5 ? .stall : .reply(204, ["Upload-Offset": "100"])
            }
        }
        let recorder = fixture.start(by: .plainTus(partSize: 50))
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(seconds))
        let count = fixture.transport.requests.count
        let second = fixture.start(by: .plainTus(partSize: 50))
        try fixture.clock.run()
        #expect(second.isFinished, "\(String(describing: second.failure))")
        #expect((fixture.transport.requests[count].method == .head) == goesOn)
    }

    /// A process that was killed goes on from the record; the upload has gone meanwhile, and begins anew.
    @Test func expired() throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .stall, .reply(410), Self.options,
            .reply(201, ["Location": "/files/8"]), .reply(204, ["Upload-Offset": "100"]),
        ])
        let first = fixture.start(by: .plainTus())
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        try fixture.clock.advance(by: .seconds(1))
        let second = fixture.start(by: .plainTus())
        try fixture.clock.run()
        #expect(second.isFinished, "\(String(describing: second.failure))")
        #expect(
            fixture.sent() == [
                "OPTIONS /films", "POST /films", "PATCH /files/7", "HEAD /files/7", "OPTIONS /films",
                "POST /films", "PATCH /files/8",
            ])
        #expect(fixture.files.paths == ["/d/f"])
    }
}

/// Uploads by tus in partial uploads that the server joins.
@Suite struct TusConcatenationTests {
    /// A server that joins partial uploads, and checks their checksums.
    final class Store: Sendable {
        struct State: Sendable {
            var contents: [String: [UInt8]] = [:]
            var count = 0
            var joined: [UInt8]?
        }

        let state = Mutex(State())

        func answer(_ request: Request) -> ScriptedTransport.Reply {
            state.withLock { state in
                let fields = request.headerFields
                let place = request.url.path()
                switch (request.method, fields[.uploadConcat]) {
                case (.options, _):
                    return .reply(
                        204,
                        [
                            "Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum,concatenation",
                            "Tus-Checksum-Algorithm": "sha1",
                        ])
                case (.post, "partial"):
                    state.count += 1
                    state.contents["/files/\(state.count)"] = []
                    return .reply(201, ["Location": "/files/\(state.count)"])
                case (.post, let final?):
                    let places = final.dropFirst("final;".count).split(separator: " ")
                    state.joined = places.flatMap { place in
                        state.contents[String(place.dropFirst("http://shop.test".count))] ?? []
                    }
                    return .reply(201, ["Location": "/files/all"])
                case (.head, _):
                    return .reply(200, ["Upload-Offset": "\(state.contents[place]?.count ?? 0)"])
                default:
                    guard case .bytes(let bytes) = request.body,
                        fields[.uploadOffset] == "\(state.contents[place]?.count ?? -1)"
                    else { return .reply(409) }
                    let digest = "sha1 " + TransferDigest(of: bytes, .sha1).base64
                    guard fields[.uploadChecksum] ?? digest == digest else { return .reply(460) }
                    state.contents[place]? += bytes
                    return .reply(204, ["Upload-Offset": "\(state.contents[place]?.count ?? 0)"])
                }
            }
        }
    }

    private static let content = UploadFixture.content
    private static let records = UploadRecords.file("/d/record")

    private static func method(_ partDigest: TransferDigest.Algorithm? = nil) -> UploadMethod {
        var options = UploadMethod.Options.plain(partSize: 30)
        options.partDigest = partDigest
        return .tus(metadata: ["filename": "tea"], concurrency: 3, options: options)
    }

    /// The rule for the waits knows the last one, in each of the ways to upload.
    @Test(arguments: [
        UploadMethod.resumable(options: .growing), .tus(options: .growing),
        .tus(concurrency: 2, options: .growing), .multipart(concurrency: 1, options: .growing),
    ])
    func waitsAfterTheLast(_ method: UploadMethod) throws {
        let fixture = UploadFixture { _, _ in .status(.serviceUnavailable) }
        let recorder = fixture.start(.bytes(Self.content), by: method, records: Self.records)
        try fixture.clock.run()
        #expect(recorder.failure?.status == .serviceUnavailable)
        let waits = recorder.values.compactMap { if case .paused(_, let wait) = $0 { wait } else { nil } }
        #expect(Set(waits) == [.seconds(1), .seconds(3), .seconds(7)], "\(waits)")
    }

    /// Several partial uploads side by side, of which one is interrupted, become one.
    @Test func joining() throws {
        let store = Store()
        let fixture = UploadFixture { request, index in
            index == 5 ? .failure(.connectionLost, "cut") : store.answer(request)
        }
        let recorder = fixture.start(
            .bytes(Self.content), by: Self.method(.sha256), records: Self.records)
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.joined } == Self.content)
        #expect(recorder.kinds.first == "started 0")
        #expect(recorder.kinds.contains("paused connectionLost 1.0"))
        let sent = fixture.sent("Upload-Concat", "Upload-Length")
        #expect(
            sent.prefix(4) == [
                "OPTIONS /films", "POST /films Upload-Concat=partial Upload-Length=33",
                "POST /films Upload-Concat=partial Upload-Length=33",
                "POST /films Upload-Concat=partial Upload-Length=34",
            ])
        let places = (1...3).map { "http://shop.test/files/\($0)" }.joined(separator: " ")
        #expect(sent.last == "POST /films Upload-Concat=final;\(places)")
        #expect(
            fixture.transport.requests.last?.headerFields[.uploadMetadata] == "filename dGVh")
        #expect(recorder.progress.last == 100)
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// An upload that is gone where a redirect leads begins anew; its `Location` is relative to the endpoint.
    @Test(arguments: [1, 2])
    func goneBehindRedirect(concurrency: Int) throws {
        let fixture = UploadFixture { request, index in
            switch request.method {
            case .options:
                return .reply(204, ["Tus-Version": "1.0.0", "Tus-Extension": "creation,concatenation"])
            case .post: return .reply(201, ["Location": "/files/\(index)"])
            case .head:
                return request.url.host() == "mirror.test"
                    ? .reply(410) : .reply(307, ["Location": "http://mirror.test/files/1"])
            default:
                guard request.url.path() != "/files/1" else { return .failure(.connectionLost) }
                let offset = request.headerFields[.uploadOffset].flatMap { Int64($0) } ?? 0
                return .reply(204, ["Upload-Offset": "\(offset + (request.body.count ?? 0))"])
            }
        }
        let method = UploadMethod.tus(concurrency: concurrency, options: .plain(partSize: 30))
        let recorder = fixture.start(.bytes(Self.content), by: method, records: Self.records)
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        let mirrored = fixture.transport.requests.filter { $0.url.host() == "mirror.test" }
        #expect(mirrored.map(\.method) == [.head])
    }

    /// Conditions go with the joining request alone: the partial uploads are no versions of the resource.
    @Test func joiningConditions() throws {
        let store = Store()
        let fixture = UploadFixture { request, _ in store.answer(request) }
        let recorder = fixture.start(
            .bytes(Self.content), by: Self.method(),
            to: .post("/films", headers: ["If-None-Match": "*"]), records: Self.records)
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        let sent = fixture.sent("If-None-Match")
        #expect(sent.last == "POST /films If-None-Match=*")
        #expect(sent.dropLast().allSatisfy { !$0.contains("If-None-Match") })
    }

    /// Another run goes on with each partial upload, wherever the first was cancelled.
    @Test(arguments: 1...10)
    func anotherRun(count: Int) throws {
        let store = Store()
        let fixture = UploadFixture { request, index in
            index == count ? .stall : store.answer(request)
        }
        let first = fixture.start(.bytes(Self.content), by: Self.method(), records: Self.records)
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        try fixture.clock.advance(by: .seconds(1))
        let before = fixture.transport.requests.count
        let second = fixture.start(.bytes(Self.content), by: Self.method(), records: Self.records)
        try fixture.clock.run()
        #expect(second.isFinished, "\(String(describing: second.failure))")
        #expect(store.state.withLock { $0.joined } == Self.content)
        let creations = fixture.transport.requests.dropFirst(before).filter { $0.method == .post }.count
        // Beside the final one only those that had no place.
        #expect(creations == (count <= 3 ? 2 : 1))
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// A server without it gets one upload.
    @Test func notOffered() throws {
        let fixture = UploadFixture([
            .reply(204, ["Tus-Version": "1.0.0", "Tus-Extension": "creation"]),
            .reply(201, ["Location": "/files/7"]), .reply(204, ["Upload-Offset": "100"]),
        ])
        let recorder = fixture.start(
            .bytes(Self.content),
            by: .tus(creationSize: 0, concurrency: 3, options: .plain(partSize: nil)),
            records: Self.records)
        try fixture.clock.run()
        #expect(recorder.kinds == ["started 0", "finished 204"])
        #expect(
            fixture.sent("Upload-Concat") == ["OPTIONS /films", "POST /films", "PATCH /files/7"])
    }

    /// Without a record a cancelled upload leaves nothing on the server that offers removal.
    @Test func removal() throws {
        let fixture = UploadFixture { request, index in
            switch request.method {
            case .options:
                .reply(
                    204, ["Tus-Version": "1.0.0", "Tus-Extension": "creation,termination,concatenation"])
            case .post: .reply(201, ["Location": "/files/\(index)"])
            case .delete: .reply(204)
            default: .stall
            }
        }
        let recorder = fixture.start(.bytes(Self.content), by: Self.method(), records: .none)
        try fixture.clock.advance(by: .seconds(1))
        recorder.cancel()
        try fixture.clock.run()
        #expect(
            fixture.sent().suffix(3).sorted() == ["DELETE /files/1", "DELETE /files/2", "DELETE /files/3"])
    }
}
