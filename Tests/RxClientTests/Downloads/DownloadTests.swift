import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Downloads in virtual time, over a scripted server and files in memory.
@Suite struct DownloadTests {
    private let bench = DownloadBench()

    @Test("The file appears complete, and no other file remains")
    func whole() throws {
        bench.files["/d/f"] = [1, 2]
        let recorder = bench.start()
        try bench.clock.advance(by: .milliseconds(8))
        #expect(bench.files["/d/f"] == [1, 2])
        #expect(bench.files["/d/f.part"] != nil)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 0)
        #expect(bench.transport.requests.map { $0.headerFields[.acceptEncoding] } == ["identity"])
        #expect(bench.ranges() == [nil])
    }

    @Test("An empty file, and one of unknown length", arguments: [true, false])
    func lengths(isEmpty: Bool) throws {
        if isEmpty {
            bench.server.state.withLock { $0.content = [] }
        } else {
            bench.server.state.withLock { $0.fields[.contentEncoding] = "gzip" }
        }
        let recorder = bench.start()
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.files["/d/f"] == (isEmpty ? [] : DownloadBench.content))
        #expect(bench.files.paths == ["/d/f"])
    }

    @Test(
        "An error's body reaches neither the target nor the partial file",
        arguments: [400, 403, 404, 416, 500])
    func error(status: Int) throws {
        bench.files["/d/f"] = [1]
        let failing = ScriptedTransport(on: bench.clock) { _ in
            .json(#"{"message":"no"}"#, status: .init(code: status))
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = bench.files
        configuration.options.retry = .never
        let client = Client(configuration: configuration, transport: failing)
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.failure?.code == (status == 416 ? .invalidResponse : .status))
        #expect(recorder.failure?.status?.code == status)
        #expect(recorder.failure?.requestID != nil)
        #expect(bench.files["/d/f"] == [1])
        #expect(bench.files.paths == ["/d/f"])
        #expect(failing.runningCount == 0)
    }

    @Test("A 204 or 205 is not a file, and replaces none", arguments: [204, 205])
    func noContent(status: Int) throws {
        bench.files["/d/f"] = [1]
        let transport = ScriptedTransport(on: bench.clock) { _ in .status(.init(code: status)) }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = bench.files
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.failure?.code == .noContent)
        #expect(recorder.failure?.status?.code == status)
        let streamed = Recorder(
            client.stream(.get("/f")).file(at: "/d/f", in: bench.files), on: bench.clock)
        try bench.clock.run()
        #expect(streamed.failure?.code == .noContent)
        #expect(bench.files["/d/f"] == [1])
        #expect(bench.files.paths == ["/d/f"])
        #expect(transport.exchanges.count == 2)
    }

    @Test("Two downloads to one path at the same time: the second is refused, the first continues")
    func twice() throws {
        let first = bench.start()
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(first)
        #expect(second.failure?.code == .file)
        #expect(second.failure?.message == "another download to /d/f is running; wait for it or cancel it")
        #expect(bench.transport.exchanges.count == 1)
        let third = bench.start()
        try bench.clock.run()
        bench.expectDone(third)
        let fourth = bench.start()
        fourth.cancel()
        let fifth = bench.start()
        try bench.clock.run()
        bench.expectDone(fifth)
    }

    private static let otherPaths = ["/d/./f", "/d//f", "/d/e/../f", "d/f"]

    @Test(
        "A download to the path, its partial file or its record is refused however the path is written",
        arguments: otherPaths + ["/d/f.part", "/d//f.part.json"])
    func spellings(path: String) throws {
        let first = bench.start()
        let client = bench.client()
        let second = Recorder(client.download(.get("/f"), to: path), on: bench.clock)
        let saved = Recorder(client.stream(.get("/f")).file(at: path, in: bench.files), on: bench.clock)
        try bench.clock.run()
        bench.expectDone(first)
        for failure in [second.failure, saved.failure] {
            #expect(failure?.code == .file)
            #expect(
                failure?.message == "another download to \(path) is running; wait for it or cancel it")
        }
        #expect(bench.transport.runningCount == 0)
    }

    @Test(
        "The other spelling of the path resumes, and the file is at the path of its caller",
        arguments: otherPaths)
    func resumedUnderAnotherName(path: String) throws {
        bench.server.state.withLock { $0.breaks = [20] }
        let first = bench.start()
        try bench.clock.run()
        #expect(first.failure?.code == .partialBody)
        let second = Recorder(bench.client().download(.get("/f"), to: path), on: bench.clock)
        try bench.clock.run()
        #expect(bench.files["/d/f"] == DownloadBench.content)
        #expect(bench.files.paths == ["/d/f"])
        guard case .finished(let file) = second.values.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.path == path)
        #expect(file.resumedFrom == 20)
    }

    /// A disk may carry out an operation long after its download has been cancelled.
    @Test(
        "What a cancelled download still writes does not reach the next one, which waits for it",
        arguments: [
            (MemoryFileSystem.Operation.lock, "/d/f.part"), (.write, "/d/f.part"),
            (.replace, "/d/f.part.json"),
            (.synchronize, "/d/f.part"), (.move, "/d/f.part"), (.remove, "/d/f.part.json"),
        ], 0...25)
    func late(operation: (MemoryFileSystem.Operation, String), time: Int) throws {
        let first = bench.start()
        try bench.clock.advance(by: .milliseconds(time))
        bench.files.delay(operation.0, of: operation.1, by: .milliseconds(15))
        try bench.clock.advance(by: .milliseconds(5))
        first.cancel()
        bench.server.state.withLock {
            $0.content = DownloadBench.other
            $0.fields[.eTag] = "\"v2\""
        }
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second, DownloadBench.other)
        #expect(bench.files.lockedPaths.isEmpty)
    }

    @Test(
        "While a cancelled download is writing, the next one waits, within its time limit; one that waits can be cancelled"
    )
    func waiting() throws {
        bench.files.delay(.write, of: "/d/f.part", by: .seconds(10))
        let first = bench.start()
        try bench.clock.advance(by: .seconds(1))
        first.cancel()
        let second = bench.start()
        let third = bench.start()
        try bench.clock.advance(by: .seconds(1))
        #expect(second.completion == nil && third.completion == nil)
        let options = RequestOptions(timeouts: Timeouts(total: .seconds(2)))
        let hasty = bench.start(retries: 0, .get("/f", options: options))
        try bench.clock.advance(by: .seconds(3))
        #expect(hasty.failure?.code == .totalTimeout)
        #expect(bench.transport.exchanges.count == 1)
        second.cancel()
        try bench.clock.run()
        bench.expectDone(third)
        #expect(bench.transport.exchanges.count == 2)
    }

    @Test("A path that another process downloads to is refused, and nothing is touched or sent")
    func elsewhere() throws {
        bench.files["/d/f.part"] = [1, 2, 3]
        bench.files.lockedElsewhere = ["/d/f.part"]
        let first = bench.start()
        try bench.clock.run()
        #expect(first.failure?.code == .file)
        #expect(
            first.failure?.message == "/d/f.part is locked by another process or another part of this one")
        #expect(first.failure?.url?.path == "/f")
        #expect(bench.transport.exchanges.isEmpty)
        #expect(bench.files["/d/f.part"] == [1, 2, 3])
        bench.files.lockedElsewhere = []
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second)
        #expect(bench.files.lockedPaths.isEmpty)
    }

    @Test("The end frees the path: a download that follows it is not refused")
    func inSuccession() throws {
        let client = bench.client()
        let recorder = Recorder(
            Observable.concat([
                client.download(.get("/f"), to: "/d/f"), client.download(.get("/f"), to: "/d/f"),
            ]), on: bench.clock)
        try bench.clock.run()
        bench.expectDone(recorder)
        #expect(bench.transport.exchanges.count == 2)
    }

    @Test(
        "An error of the disk fails the download, closes the transfer and keeps the target",
        arguments: [
            (MemoryFileSystem.Operation.lock, "/d/f.part"), (.status, "/d/f.part"),
            (.replace, "/d/f.part.json"), (.write, "/d/f.part"), (.synchronize, "/d/f.part"),
            (.move, "/d/f.part"),
        ])
    func disk(operation: MemoryFileSystem.Operation, path: String) throws {
        bench.files["/d/f"] = [1]
        bench.files.fail(operation, of: path, "disk full")
        let first = bench.start()
        try bench.clock.run()
        #expect(first.failure?.code == .file)
        #expect(first.failure?.message.contains("disk full") == true)
        #expect(first.failure?.url?.path == "/f")
        #expect(bench.files["/d/f"] == [1])
        #expect(bench.transport.runningCount == 0)
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second)
    }

    @Test(
        "Downloads go to the transport's files, unless the configuration or the call names others",
        arguments: 0..<3)
    func filesOfTheTransport(named: Int) throws {
        let others = MemoryFileSystem(on: bench.clock)
        let transport = ScriptedTransport(on: bench.clock, files: bench.files) { _ in .bytes([1, 2]) }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        if named == 1 { configuration.files = others }
        let client = Client(configuration: configuration, transport: RecordingTransport(transport))
        let recorder = Recorder(
            client.download(.get("/f"), to: "/d/f", in: named == 2 ? others : nil), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.files.paths == (named == 0 ? ["/d/f"] : []))
        #expect(others.paths == (named == 0 ? [] : ["/d/f"]))
    }

    @Test("A transport without files: the download says so, and nothing is sent")
    func noFiles() throws {
        let client = Client(baseURL: "http://shop.test", transport: Fileless(scheduler: bench.clock))
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.failure?.code == .file)
        #expect(recorder.failure?.message.contains("no file system") == true)
    }

    private struct Fileless: Transport {
        let scheduler: any Scheduler

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            .fail(NetworkError(.connect, "sent"))
        }
    }

    @Test("Progress: at most 20 values a second, counting the existing bytes, and always the last one")
    func progress() throws {
        bench.server.state.withLock {
            $0.content = Array(repeating: 1, count: 1000)
            $0.breaks = [100]
            $0.pieceSize = 1
            $0.pace = .milliseconds(10)
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
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
