import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
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

    /// The statuses after which the offset is asked for, begun anew, or given up.
    @Test(arguments: [
        (423, true), (460, true), (500, true), (429, true), (403, true), (415, false), (401, false),
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

    /// Checksums are sent with an algorithm that the server offers.
    @Test(arguments: [(TransferDigest.Algorithm.sha256, true), (.crc32, false)])
    func checksums(algorithm: TransferDigest.Algorithm, isSent: Bool) throws {
        let fixture = UploadFixture([
            Self.options, .reply(201, Self.place), .reply(204, ["Upload-Offset": "100"]),
        ])
        var method = UploadMethod.plainTus()
        method.options.partDigest = algorithm
        method.options.digest = .computed(.sha256)
        let recorder = fixture.start(by: method)
        try fixture.clock.run()
        let expected = "sha256 " + TransferDigest(of: UploadFixture.content).base64
        #expect(
            fixture.transport.requests.last?.headerFields[.uploadChecksum] == (isSent ? expected : nil))
        #expect(recorder.kinds.contains("verified sha-256") == isSent)
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
