import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxNetworking
import RxTesting
import Synchronization
import TestServers
import Testing

@testable import RxTransfers

/// Multipart uploads of S3: the rules in virtual time, and the wire.
@Suite(.timeLimit(.minutes(1))) struct MultipartUploadTests {
    private static let content = UploadFixture.content

    /// - Parameter delay: the time that the store takes for a part.
    private static func fixture(
        _ store: ObjectStore, delay: Duration = .milliseconds(10)
    ) -> UploadFixture {
        UploadFixture { request, _ in
            var body: [UInt8] = []
            if case .bytes(let bytes) = request.body { body = bytes }
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
            let reply = store.answer(
                ObjectStore.Request(
                    method: request.method.rawValue,
                    query: Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 },
                    fields: Dictionary(
                        request.headerFields.map { ($0.name.rawName.lowercased(), $0.value) }
                    ) { $1 },
                    body: body))
            var steps = ScriptedTransport.Reply.reply(reply.status, reply.fields, reply.body)
            if request.method == .put { steps.steps.insert(.wait(delay), at: 0) }
            return steps
        }
    }

    private static func method(concurrency: Int = 3, digest: TransferDigest.Algorithm? = .sha256)
        -> UploadMethod
    {
        var options = UploadMethod.Options.plain(partSize: 20)
        options.digest = .computed(.sha256)
        options.partDigest = digest
        return .multipart(concurrency: concurrency, options: options)
    }

    private func start(
        _ fixture: UploadFixture, _ content: UploadContent = .bytes(content),
        _ method: UploadMethod = method(), records: UploadRecords = .automatic
    ) -> Recorder<UploadEvent<Response>, NetworkError> {
        fixture.start(content, by: method, to: .put("/bucket/film"), records: records)
    }

    /// Parts side by side with their checksums, joined in their order.
    @Test func parts() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let recorder = start(fixture)
        try fixture.clock.run()
        #expect(
            recorder.kinds == ["started 0", "verified sha-256", "finished 200"],
            "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.object } == Self.content)
        #expect(
            store.state.withLock { $0.log } == [
                "POST uploads", "PUT partNumber,uploadId 1", "PUT partNumber,uploadId 2",
                "PUT partNumber,uploadId 3", "PUT partNumber,uploadId 4", "PUT partNumber,uploadId 5",
                "POST uploadId",
            ])
        #expect(fixture.clock.now == .milliseconds(20))
        #expect(fixture.transport.requests.last?.headerFields[.contentType] == "application/xml")
    }

    /// Statuses that pass, and an error in a response with the status 200.
    @Test func retries() throws {
        let store = ObjectStore()
        store.state.withLock {
            $0.faults = [503, 200, 500, 429]
            $0.failsCompletion = true
        }
        let fixture = Self.fixture(store)
        let recorder = start(fixture)
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.object } == Self.content)
    }

    /// A failure of all parts that are being sent counts once for each of them.
    @Test func failureOfAllParts() throws {
        let store = ObjectStore()
        store.state.withLock { $0.faults = Array(repeating: 503, count: 5) }
        let fixture = Self.fixture(store)
        let recorder = start(fixture, .bytes(Self.content), Self.method(concurrency: 5))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
    }

    /// Fields about the new object go with the creation, conditions with the completion, and a key with all requests.
    @Test func headerFields() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let recorder = fixture.start(
            .bytes(Self.content), by: Self.method(),
            to: .put(
                "/bucket/film",
                headers: [
                    "x-amz-storage-class": "GLACIER", "If-None-Match": "*",
                    "x-amz-server-side-encryption-customer-key": "k",
                ]))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        let sent = fixture.sent(
            "x-amz-storage-class", "If-None-Match", "x-amz-server-side-encryption-customer-key")
        let key = "x-amz-server-side-encryption-customer-key=k"
        #expect(sent.first == "POST /bucket/film x-amz-storage-class=GLACIER \(key)")
        #expect(sent.dropFirst().dropLast().allSatisfy { $0 == "PUT /bucket/film \(key)" })
        #expect(sent.last == "POST /bucket/film If-None-Match=* \(key)")
        #expect(
            fixture.transport.requests[1].headerFields[HTTPField.Name("x-amz-checksum-sha256")!] != nil)
    }

    /// Another run lists the parts, on several pages, and sends the missing ones.
    @Test func anotherRun() throws {
        let store = ObjectStore()
        store.state.withLock { $0.pageSize = 2 }
        let fixture = Self.fixture(store)
        let first = start(
            fixture, .bytes(Self.content), Self.method(concurrency: 1), records: .file("/d/record"))
        try fixture.clock.advance(by: .milliseconds(35))
        first.cancel()
        try fixture.clock.run()
        #expect(fixture.files.paths == ["/d/f", "/d/record.json"])
        let before = store.state.withLock { $0.log.count }
        let second = start(fixture, .bytes(Self.content), Self.method(), records: .file("/d/record"))
        try fixture.clock.run()
        #expect(second.kinds.first == "started 80")
        #expect(second.isFinished)
        #expect(store.state.withLock { $0.object } == Self.content)
        #expect(
            store.state.withLock { Array($0.log.dropFirst(before)) } == [
                "GET uploadId", "GET part-number-marker,uploadId", "PUT partNumber,uploadId 5",
                "POST uploadId",
            ])
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// An upload that is gone begins anew.
    @Test func gone() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let first = start(
            fixture, .bytes(Self.content), Self.method(concurrency: 1), records: .file("/d/record"))
        try fixture.clock.advance(by: .milliseconds(35))
        first.cancel()
        try fixture.clock.run()
        store.state.withLock { $0.uploadID = nil }
        let second = start(fixture, .bytes(Self.content), Self.method(), records: .file("/d/record"))
        try fixture.clock.run()
        #expect(second.isFinished, "\(String(describing: second.failure))")
        #expect(store.state.withLock { $0.object } == Self.content)
    }

    /// An upload that is gone while a part of it waits for another attempt: the wait ends with the upload.
    @Test func goneDuringWait() throws {
        let store = ObjectStore()
        store.state.withLock { $0.faults = [503, 404] }
        // Parts take longer than the wait, so that its part is being sent again when it would be over.
        let fixture = Self.fixture(store, delay: .seconds(2))
        let recorder = start(fixture, .bytes(Self.content), Self.method(concurrency: 2))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(
            store.state.withLock { $0.log } == [
                "POST uploads", "PUT partNumber,uploadId 1", "PUT partNumber,uploadId 2", "POST uploads",
                "PUT partNumber,uploadId 1", "PUT partNumber,uploadId 2", "PUT partNumber,uploadId 3",
                "PUT partNumber,uploadId 4", "PUT partNumber,uploadId 5", "POST uploadId",
            ])
    }

    /// An upload that is gone while a part of it is still being hashed: that part is not sent.
    @Test func goneDuringDigest() throws {
        let fixture = UploadFixture { request, index in
            let url = request.url.absoluteString
            if url.hasSuffix("?uploads") {
                return .reply(200, [:], "<R><UploadId>u\(index)</UploadId></R>")
            }
            if url.contains("uploadId=u0") { return .reply(404) }
            var reply = ScriptedTransport.Reply.reply(200, ["ETag": "\"t\""])
            // The new upload is still running when the hash ends.
            reply.steps.insert(.wait(.seconds(2)), at: 0)
            return reply
        }
        for delay in [0, 1] { fixture.files.delay(.read, of: "/d/f", by: .seconds(delay)) }
        var options = UploadMethod.Options.plain(partSize: 50)
        options.partDigest = .sha256
        let recorder = fixture.start(
            by: .multipart(concurrency: 2, options: options), to: .put("/bucket/film"))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        let urls = fixture.transport.requests.map(\.url.absoluteString)
        #expect(urls.count { $0.contains("uploadId=u0") } == 1)
    }

    /// The progress of an upload that begins anew is without the bytes of its former parts.
    @Test func progressAfterGone() throws {
        let tag = ["ETag": "\"t\""]
        func part(
            _ steps: [ScriptedTransport.Step], _ reply: ScriptedTransport.Reply
        ) -> ScriptedTransport.Reply { .init(steps + reply.steps) }
        func creation(_ id: String) -> ScriptedTransport.Reply {
            .reply(200, [:], "<R><UploadId>\(id)</UploadId></R>")
        }
        let sent = ScriptedTransport.Step.uploaded(bytes: 50, of: 50)
        let fixture = UploadFixture([
            creation("a"), part([sent, .wait(.milliseconds(100))], .reply(404)),
            part([sent, .wait(.seconds(1))], .reply(200, tag)),
            creation("b"), part([.wait(.seconds(1)), sent], .reply(200, tag)),
            part([.wait(.seconds(2)), sent], .reply(200, tag)), .reply(200),
        ])
        let recorder = fixture.start(
            .bytes(Self.content), by: .multipart(concurrency: 2, options: .plain(partSize: 50)),
            to: .put("/bucket/film"))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(recorder.progress == [0, 100, 0, 50, 100])
        #expect(recorder.kinds == ["started 0", "finished 200"])
    }

    /// A cancelled upload without a record is aborted.
    @Test func abort() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let recorder = start(fixture)
        try fixture.clock.advance(by: .milliseconds(5))
        recorder.cancel()
        try fixture.clock.run()
        #expect(store.state.withLock { $0.log.last } == "DELETE uploadId")
    }

    /// A stream of unknown length.
    @Test func streams() throws {
        let store = ObjectStore()
        store.state.withLock { $0.faults = [200, 503] }
        let fixture = Self.fixture(store)
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            (0..<10).map { chunk in
                (0..<10).map { UInt8(chunk * 10 + $0) }
            })
        let recorder = start(fixture, .stream(chunks))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.object } == Self.content)
    }

    /// The size of the parts of a stream follows from its length, whatever part size was asked for, and no byte is left out.
    @Test func streamOfKnownLength() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let chunks = (0..<9).map { [UInt8](repeating: UInt8($0), count: 1 << 20) }
        let stream = Observable<[UInt8], NetworkError>.sequence(chunks)
        let recorder = start(
            fixture, .stream(stream, length: 9 << 20), .multipart(options: .plain(partSize: 20)))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.parts.count } == 2)
        expectSame(store.state.withLock { $0.object ?? [] }, Array(chunks.joined()))
    }

    /// An empty object has one empty part.
    @Test func empty() throws {
        let store = ObjectStore()
        let fixture = Self.fixture(store)
        let recorder = start(fixture, .bytes([]))
        try fixture.clock.run()
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(store.state.withLock { $0.object } == [])
    }

    /// The size of the parts follows from the size of the object.
    @Test(
        arguments: [
            (0, nil, 8 << 20), (1 << 30, nil, 8 << 20), (100_000_000_000, nil, 10 << 20),
            (5_000_000_000_000, nil, 477 << 20), (1 << 30, 6 << 20, 6 << 20),
            (5_000_000_000_000, 6 << 20, 477 << 20), (nil, 6 << 20, 6 << 20), (nil, 0, 1),
            (nil, Int64.max, 5 << 30),
        ] as [(Int64?, Int64?, Int64)])
    func partSizes(total: Int64?, wanted: Int64?, size: Int64) {
        let found = S3MultipartMachine.partSize(of: total, wanted: wanted)
        #expect(found == size)
        if let total { #expect(total / found < 10_000 || total % found == 0) }
    }

    /// A record with a size that no part may have is none.
    @Test(arguments: [0, -1, Int64.max])
    func brokenRecords(partSize: Int64) throws {
        let record = UploadRecord(method: "s3-multipart", target: "t", location: "u", partSize: partSize)
        let bytes = try record.encoded()
        #expect(UploadRecord.read(bytes) == nil)
    }

    /// Lists of parts that lead back to an earlier one come to an end.
    @Test func alternatingMarkers() {
        var machine = S3MultipartMachine(
            total: 100, partSize: 20, concurrency: 1, algorithm: nil, maxRetries: 1)
        _ = machine.receive(.begin(uploadID: "u"))
        var lists = 0
        for marker in [2, 1, 2, 1] {
            let next = "<NextPartNumberMarker>\(marker)</NextPartNumberMarker>"
            let body = "<R><IsTruncated>true</IsTruncated>\(next)</R>"
            let head = ResponseHead(status: .ok, headerFields: [:])
            for output in machine.receive(.responded(.query, head, Array(body.utf8))) {
                if case .send(let request) = output, request.kind == .query { lists += 1 }
            }
        }
        #expect(lists == 1)
    }

    /// A file over sockets, with a fault between.
    @Test func wire() async throws {
        let store = ObjectStore()
        store.state.withLock { $0.faults = [200, 503] }
        let server = try RawServer { request in
            let parts = request.target.split(separator: "?", maxSplits: 1)
            let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = (sides.count > 1 ? String(sides[1]) : "").removingPercentEncoding ?? ""
                return (String(sides[0]), value)
            }
            let reply = store.answer(
                ObjectStore.Request(
                    method: request.method, query: Dictionary(query) { $1 },
                    fields: Dictionary(request.fields.map { ($0.name.lowercased(), $0.value) }) { $1 },
                    body: request.body))
            let fields = reply.fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            return [
                .send(
                    "HTTP/1.1 \(reply.status) X\r\n\(fields)Content-Length: \(reply.body.utf8.count)\r\n\r\n\(reply.body)"
                )
            ]
        }
        let folder = try TemporaryFolder()
        let content = UploadWireTests.content(300_000)
        let path = try folder.file("film", content)
        var options = UploadWireTests.options(partSize: 70_000)
        options.partDigest = .sha256
        var last: UploadEvent<Response>?
        let stream = Client(baseURL: server.baseURL).upload(
            .file(path), to: .put("/bucket/film"), by: .multipart(options: options))
        for try await event in stream.values(buffering: .unbounded) { last = event }
        guard case .finished = last else {
            Issue.record("no result")
            return
        }
        expectSame(store.state.withLock { $0.object ?? [] }, content)
        #expect(try folder.names == ["film"])
    }
}
