import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Synchronization
import Testing

/// Downloads in virtual time, over a scripted server and files in memory.
@Suite struct DownloadTests {
    private let fixture = DownloadFixture()

    /// The file appears complete, and no other file remains.
    @Test func whole() throws {
        fixture.files["/d/f"] = [1, 2]
        let recorder = fixture.start()
        try fixture.clock.advance(by: .milliseconds(8))
        #expect(fixture.files["/d/f"] == [1, 2])
        #expect(fixture.files["/d/f.part"] != nil)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 0)
        #expect(fixture.transport.requests.map { $0.headerFields[.acceptEncoding] } == ["identity"])
        #expect(fixture.ranges() == [nil])
    }

    /// An empty file, and one of unknown length.
    @Test(arguments: [true, false])
    func lengths(isEmpty: Bool) throws {
        if isEmpty {
            fixture.server.state.withLock { $0.content = [] }
        } else {
            fixture.server.state.withLock { $0.fields[.contentEncoding] = "gzip" }
        }
        let recorder = fixture.start()
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.files["/d/f"] == (isEmpty ? [] : DownloadFixture.content))
        #expect(fixture.files.paths == ["/d/f"])
    }

    /// An error's body reaches neither the target nor the partial file.
    @Test(arguments: [400, 403, 404, 416, 500])
    func error(status: Int) throws {
        fixture.files["/d/f"] = [1]
        let failing = ScriptedTransport(on: fixture.clock) { _ in
            .json(#"{"message":"no"}"#, status: .init(code: status))
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = fixture.files
        configuration.options.retry = .never
        let client = Client(configuration: configuration, transport: failing)
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.code == (status == 416 ? .invalidResponse : .status))
        #expect(recorder.failure?.status?.code == status)
        #expect(recorder.failure?.requestID != nil)
        #expect(fixture.files["/d/f"] == [1])
        #expect(fixture.files.paths == ["/d/f"])
        #expect(failing.runningCount == 0)
    }

    /// A 204 or 205 is not a file, and replaces none.
    @Test(arguments: [204, 205])
    func noContent(status: Int) throws {
        fixture.files["/d/f"] = [1]
        let transport = ScriptedTransport(on: fixture.clock) { _ in .status(.init(code: status)) }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = fixture.files
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .noContent)
        #expect(recorder.failure?.status?.code == status)
        let streamed = Recorder(
            client.stream(.get("/f")).file(at: "/d/f", in: fixture.files), on: fixture.clock)
        try fixture.clock.run()
        #expect(streamed.failure?.code == .noContent)
        #expect(fixture.files["/d/f"] == [1])
        #expect(fixture.files.paths == ["/d/f"])
        #expect(transport.exchanges.count == 2)
    }

    /// Two downloads to one path at the same time: the second is refused, the first continues.
    @Test func twice() throws {
        let first = fixture.start()
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(first)
        #expect(second.failure?.code == .file)
        #expect(second.failure?.message == "another download to /d/f is running; wait for it or cancel it")
        #expect(fixture.transport.exchanges.count == 1)
        let third = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(third)
        let fourth = fixture.start()
        fourth.cancel()
        let fifth = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(fifth)
    }

    private static let otherPaths = ["/d/./f", "/d//f", "/d/e/../f", "d/f"]

    /// A download to the path, its partial file or its record is refused however the path is written.
    @Test(arguments: otherPaths + ["/d/f.part", "/d//f.part.json"])
    func spellings(path: String) throws {
        let first = fixture.start()
        let client = fixture.client()
        let second = Recorder(client.download(.get("/f"), to: path), on: fixture.clock)
        let saved = Recorder(client.stream(.get("/f")).file(at: path, in: fixture.files), on: fixture.clock)
        try fixture.clock.run()
        fixture.expectDone(first)
        for failure in [second.failure, saved.failure] {
            #expect(failure?.code == .file)
            #expect(
                failure?.message == "another download to \(path) is running; wait for it or cancel it")
        }
        #expect(fixture.transport.runningCount == 0)
    }

    /// The other spelling of the path resumes, and the file is at the path of its caller.
    @Test(arguments: otherPaths)
    func resumedUnderAnotherName(path: String) throws {
        fixture.server.state.withLock { $0.breaks = [20] }
        let first = fixture.start()
        try fixture.clock.run()
        #expect(first.failure?.code == .partialBody)
        let second = Recorder(fixture.client().download(.get("/f"), to: path), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.files["/d/f"] == DownloadFixture.content)
        #expect(fixture.files.paths == ["/d/f"])
        guard case .finished(let file) = second.values.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.path == path)
        #expect(file.resumedFrom == 20)
    }

    /// A disk may carry out an operation long after its download has been cancelled.
    /// Late writes of a cancelled download do not reach the next one, which waits for them.
    @Test(
        arguments: [
            (MemoryFileSystem.Operation.lock, "/d/f.part"), (.write, "/d/f.part"),
            (.replace, "/d/f.part.json"),
            (.synchronize, "/d/f.part"), (.move, "/d/f.part"), (.remove, "/d/f.part.json"),
        ], 0...25)
    func late(operation: (MemoryFileSystem.Operation, String), time: Int) throws {
        let first = fixture.start()
        try fixture.clock.advance(by: .milliseconds(time))
        fixture.files.delay(operation.0, of: operation.1, by: .milliseconds(15))
        try fixture.clock.advance(by: .milliseconds(5))
        first.cancel()
        fixture.server.state.withLock {
            $0.content = DownloadFixture.other
            $0.fields[.eTag] = "\"v2\""
        }
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second, DownloadFixture.other)
        #expect(fixture.files.lockedPaths.isEmpty)
    }

    /// While a cancelled download is writing, the next one waits, within its time limit; one that waits can
    /// be cancelled.
    @Test func waiting() throws {
        fixture.files.delay(.write, of: "/d/f.part", by: .seconds(10))
        let first = fixture.start()
        try fixture.clock.advance(by: .seconds(1))
        first.cancel()
        let second = fixture.start()
        let third = fixture.start()
        try fixture.clock.advance(by: .seconds(1))
        #expect(second.completion == nil && third.completion == nil)
        let options = RequestOptions(timeouts: Timeouts(total: .seconds(2)))
        let hasty = fixture.start(retries: 0, .get("/f", options: options))
        try fixture.clock.advance(by: .seconds(3))
        #expect(hasty.failure?.code == .totalTimeout)
        #expect(fixture.transport.exchanges.count == 1)
        second.cancel()
        try fixture.clock.run()
        fixture.expectDone(third)
        #expect(fixture.transport.exchanges.count == 2)
    }

    /// A path that another process downloads to is refused, and nothing is touched or sent.
    @Test func elsewhere() throws {
        fixture.files["/d/f.part"] = [1, 2, 3]
        fixture.files.lockedElsewhere = ["/d/f.part"]
        let first = fixture.start()
        try fixture.clock.run()
        #expect(first.failure?.code == .file)
        #expect(
            first.failure?.message == "/d/f.part is locked by another process or another part of this one")
        #expect(first.failure?.url?.path == "/f")
        #expect(fixture.transport.exchanges.isEmpty)
        #expect(fixture.files["/d/f.part"] == [1, 2, 3])
        fixture.files.lockedElsewhere = []
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second)
        #expect(fixture.files.lockedPaths.isEmpty)
    }

    /// The end frees the path: a download that follows it is not refused.
    @Test func inSuccession() throws {
        let client = fixture.client()
        let recorder = Recorder(
            Observable.concat([
                client.download(.get("/f"), to: "/d/f"), client.download(.get("/f"), to: "/d/f"),
            ]), on: fixture.clock)
        try fixture.clock.run()
        fixture.expectDone(recorder)
        #expect(fixture.transport.exchanges.count == 2)
    }

    /// An error of the disk fails the download, closes the transfer and keeps the target.
    @Test(arguments: [
        (MemoryFileSystem.Operation.lock, "/d/f.part"), (.status, "/d/f.part"),
        (.replace, "/d/f.part.json"), (.write, "/d/f.part"), (.synchronize, "/d/f.part"),
        (.move, "/d/f.part"),
    ])
    func disk(operation: MemoryFileSystem.Operation, path: String) throws {
        fixture.files["/d/f"] = [1]
        fixture.files.fail(operation, of: path, "disk full")
        let first = fixture.start()
        try fixture.clock.run()
        #expect(first.failure?.code == .file)
        #expect(first.failure?.message.contains("disk full") == true)
        #expect(first.failure?.url?.path == "/f")
        #expect(fixture.files["/d/f"] == [1])
        #expect(fixture.transport.runningCount == 0)
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second)
    }

    /// Downloads go to the transport's files, unless the configuration or the call names others.
    @Test(arguments: 0..<3)
    func filesOfTheTransport(named: Int) throws {
        let others = MemoryFileSystem(on: fixture.clock)
        let transport = ScriptedTransport(on: fixture.clock, files: fixture.files) { _ in .bytes([1, 2]) }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        if named == 1 { configuration.files = others }
        let client = Client(configuration: configuration, transport: RecordingTransport(transport))
        let recorder = Recorder(
            client.download(.get("/f"), to: "/d/f", in: named == 2 ? others : nil), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.files.paths == (named == 0 ? ["/d/f"] : []))
        #expect(others.paths == (named == 0 ? [] : ["/d/f"]))
    }

    /// A transport without files: the download says so, and nothing is sent.
    @Test func noFiles() throws {
        let client = Client(baseURL: "http://shop.test", transport: Fileless(scheduler: fixture.clock))
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .file)
        #expect(recorder.failure?.message.contains("no file system") == true)
    }

    private struct Fileless: Transport {
        let scheduler: any Scheduler

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            .fail(NetworkError(.connect, "sent"))
        }
    }

    /// Progress: at most 20 values a second, counting the existing bytes, and always the last one.
    @Test func progress() throws {
        fixture.server.state.withLock {
            $0.content = Array(repeating: 1, count: 1000)
            $0.breaks = [100]
            $0.pieceSize = 1
            $0.pace = .milliseconds(10)
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        let times = recorder.events.compactMap { event -> Duration? in
            if case .next(.progress) = event.kind { event.time } else { nil }
        }
        #expect(times.count > 150)
        #expect(
            zip(times.dropLast(), times.dropLast().dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(40) })
        #expect(recorder.progress.last == TransferProgress(bytes: 1000, expected: 1000))
        #expect(recorder.progress.contains(TransferProgress(bytes: 100, expected: 1000)))
    }
}
