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
    private static let content = (0..<50).map { UInt8($0) }
    private static let other = (0..<60).map { UInt8(200 - $0) }

    private let clock = VirtualScheduler()
    private let server = RangeServer(content)
    private let files: MemoryFileSystem
    private let transport: ScriptedTransport

    init() {
        files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
        let server = server
        transport = ScriptedTransport(on: clock) { server.answer($0) }
    }

    private func client(retries: Int = 0) -> Client {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = files
        configuration.retry = .exponentialBackoff(maxRetries: retries, backoff: .constant(.seconds(1)))
        return Client(configuration: configuration, transport: transport)
    }

    private func start(
        retries: Int = 0, _ call: Call = Call(.get, "/f"), ignoring: Set<String> = []
    ) -> Recorder<DownloadEvent, NetworkError> {
        Recorder(
            client(retries: retries).download(call, to: "/d/f", ignoringQuery: ignoring), on: clock)
    }

    private func expectDone(
        _ recorder: Recorder<DownloadEvent, NetworkError>, _ content: [UInt8] = content,
        resumedFrom offset: Int? = nil
    ) {
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(files["/d/f"] == content)
        #expect(files.paths == ["/d/f"])
        guard case .finished(let file) = recorder.values.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.size == Int64(content.count))
        #expect(file.path == "/d/f")
        if let offset { #expect(file.resumedFrom == Int64(offset)) }
        #expect(recorder.progress.last == TransferProgress(bytes: file.size, expected: file.size))
        if transport.requests.count == 1 {
            #expect(recorder.progress.map(\.bytes) == recorder.progress.map(\.bytes).sorted())
        }
    }

    private func ranges() -> [String?] { transport.requests.map { $0.headerFields[.range] } }

    @Test("The file appears whole; nothing else stays")
    func whole() throws {
        files["/d/f"] = [1, 2]
        let recorder = start()
        try clock.advance(by: .milliseconds(8))
        #expect(files["/d/f"] == [1, 2])
        #expect(files["/d/f.part"] != nil)
        try clock.run()
        expectDone(recorder, resumedFrom: 0)
        #expect(transport.requests.map { $0.headerFields[.acceptEncoding] } == ["identity"])
        #expect(ranges() == [nil])
    }

    @Test("An empty file, and one of unknown length", arguments: [true, false])
    func lengths(isEmpty: Bool) throws {
        if isEmpty {
            server.state.withLock { $0.content = [] }
        } else {
            server.state.withLock { $0.fields[.contentEncoding] = "gzip" }
        }
        let recorder = start()
        try clock.run()
        #expect(recorder.isFinished)
        #expect(files["/d/f"] == (isEmpty ? [] : Self.content))
        #expect(files.paths == ["/d/f"])
    }

    @Test("Broken off after so many bytes, it goes on from there in the same run", arguments: 0...50)
    func goesOn(count: Int) throws {
        server.state.withLock { $0.breaks = [count] }
        let recorder = start(retries: 1)
        try clock.run()
        let isWhole = count == 50
        expectDone(recorder, resumedFrom: isWhole ? 0 : count)
        #expect(ranges() == (isWhole ? [nil] : [nil, count == 0 ? nil : "bytes=\(count)-"]))
        #expect(transport.requests.last?.headerFields[.ifRange] == (isWhole || count == 0 ? nil : "\"v1\""))
    }

    @Test("Broken off again and again")
    func often() throws {
        server.state.withLock { $0.breaks = [3, 9, 0, 20] }
        let recorder = start(retries: 4)
        try clock.run()
        expectDone(recorder, resumedFrom: 32)
        #expect(ranges() == [nil, "bytes=3-", "bytes=12-", "bytes=12-", "bytes=32-"])
    }

    /// As a killed process would leave it: each step of a file system takes a millisecond.
    @Test("Left at any moment, it is finished by the next run", arguments: 0...30, [false, true])
    func left(millisecond: Int, changes: Bool) throws {
        let first = start()
        try clock.advance(by: .milliseconds(millisecond))
        first.cancel()
        let isDone = first.isFinished
        if changes, !isDone {
            server.state.withLock {
                $0.content = Self.other
                $0.fields[.eTag] = "\"v2\""
            }
        }
        #expect(files["/d/f"] == nil || files["/d/f"] == Self.content)
        let second = start()
        try clock.run()
        expectDone(second, changes && !isDone ? Self.other : Self.content)
        #expect(transport.runningCount == 0)
    }

    @Test("A file that has changed begins anew, by tag and by date", arguments: [false, true])
    func changed(byDate: Bool) throws {
        let (old, now, new) = (
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", "Sun, 06 Nov 1994 08:49:50 GMT"
        )
        server.state.withLock {
            $0.breaks = [20]
            if byDate { $0.fields = [.lastModified: old, .date: now] }
        }
        let recorder = start(retries: 1)
        try clock.advance(by: .milliseconds(500))
        #expect(files["/d/f.part"]?.count == 20)
        server.state.withLock {
            $0.content = Self.other
            $0.fields = byDate ? [.lastModified: new, .date: now] : [.eTag: "\"v2\""]
        }
        try clock.run()
        expectDone(recorder, Self.other)
        #expect(ranges() == [nil, "bytes=20-"])
    }

    @Test("A server that ignores ranges sends all of it again")
    func ignoring() throws {
        server.state.withLock {
            $0.breaks = [20]
            $0.ignoresRange = true
        }
        let recorder = start(retries: 1)
        try clock.run()
        expectDone(recorder, resumedFrom: nil)
        #expect(ranges() == [nil, "bytes=20-"])
    }

    static let lies: [(Int, HTTPFields)] = [
        (206, [:]), (206, [.contentRange: "bytes 0-49/50"]), (206, [.contentRange: "bytes 19-49/50"]),
        (206, [.contentRange: "bytes 21-49/50"]), (206, [.contentRange: "bytes 20-48/49"]),
        (206, [.contentRange: "bytes 20-50/51"]), (206, [.contentRange: "bytes 20-49/*"]),
        (206, [.contentRange: "bytes 20-49/50", .eTag: "\"v2\""]),
        (206, [.contentRange: "bytes 20-49/50", .contentEncoding: "gzip"]),
        (206, [.contentRange: "bytes 20-49/50", .contentLength: "31"]),
        (206, [.contentRange: "bytes 49-20/50"]), (206, [.contentRange: "nonsense"]),
        (206, [.contentRange: "bytes 20-99999999999999999999/50"]),
        (416, [:]), (416, [.contentRange: "bytes */50"]), (416, [.contentRange: "bytes */20"]),
        (416, [.contentRange: "bytes */20", .eTag: "\"v2\""]),
    ]

    @Test("A server that lies about the part is asked for the whole", arguments: lies)
    func lying(status: Int, fields: HTTPFields) throws {
        server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.bytes(Array(repeating: 99, count: 30), status: .init(code: status), headers: fields)]
        }
        let recorder = start(retries: 1)
        try clock.run()
        expectDone(recorder)
        #expect(ranges() == [nil, "bytes=20-", nil])
        #expect(transport.runningCount == 0)
    }

    @Test(
        "A part that is longer than it said is cut there; one that is shorter goes on", arguments: [31, 29])
    func wrongLength(count: Int) throws {
        let bytes = Array(Self.content[20...]) + [99]
        server.state.withLock {
            $0.breaks = [20]
            $0.lies = [
                .bytes(
                    Array(bytes.prefix(count)), status: .partialContent,
                    headers: [.contentRange: "bytes 20-49/50"])
            ]
        }
        let first = start(retries: 1)
        try clock.run()
        #expect(first.failure?.code == (count > 30 ? .invalidResponse : .partialBody))
        #expect(files["/d/f"] == nil)
        #expect(files["/d/f.part"].map { Self.content.starts(with: $0) } == true)
        let second = start()
        try clock.run()
        expectDone(second)
    }

    @Test("A server that gives less than what is missing is asked for the rest")
    func slices() throws {
        server.state.withLock {
            $0.breaks = [5]
            $0.slice = 10
        }
        let recorder = start(retries: 1)
        try clock.run()
        expectDone(recorder, resumedFrom: 45)
        #expect(ranges() == [nil] + [5, 15, 25, 35, 45].map { "bytes=\($0)-" })
    }

    @Test("All of it is there: 416 says so, and nothing is fetched")
    func complete() throws {
        server.state.withLock { $0.breaks = [20] }
        let first = start()
        try clock.run()
        #expect(first.failure?.code == .partialBody)
        files["/d/f.part"] = Self.content
        let second = start()
        try clock.run()
        expectDone(second, resumedFrom: 50)
        #expect(ranges() == [nil, "bytes=50-"])
    }

    @Test(
        "Without a strong validator nothing is added to",
        arguments: [
            [:], [.eTag: "W/\"v1\""], [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func weak(fields: HTTPFields) throws {
        server.state.withLock {
            $0.fields = fields
            $0.breaks = [20]
        }
        let recorder = start(retries: 1)
        try clock.run()
        expectDone(recorder, resumedFrom: 0)
        #expect(ranges() == [nil, nil])
    }

    @Test("A half file of another URL, a broken record or none begins anew", arguments: 0..<4)
    func foreign(kind: Int) throws {
        files["/d/f.part"] = [9, 9, 9]
        let record = [
            #"{"url":"http://shop.test/g","etag":"\"v1\""}"#, #"{"url":"http://shop.test/f","etag":"\"v1"#,
            String(repeating: " ", count: 70_000) + #"{"url":"http://shop.test/f","etag":"\"v1\""}"#,
        ]
        if kind < 3 { files["/d/f.part.json"] = Array(record[kind].utf8) }
        let recorder = start()
        try clock.run()
        expectDone(recorder, resumedFrom: 0)
        #expect(ranges() == [nil])
    }

    @Test("A signature that expires does not make it another file, if it is named", arguments: [true, false])
    func signature(isNamed: Bool) throws {
        server.state.withLock { $0.breaks = [20] }
        let first = start(Call(.get, "/f?v=2&sig=abc"), ignoring: isNamed ? ["sig"] : [])
        try clock.run()
        #expect(first.failure?.code == .partialBody)
        let record = String(decoding: files["/d/f.part.json"] ?? [], as: UTF8.self)
        #expect(record.contains("sig=abc") == !isNamed)
        #expect(record.contains("v=2"))
        let second = start(Call(.get, "/f?v=2&sig=xyz"), ignoring: isNamed ? ["sig"] : [])
        try clock.run()
        expectDone(second)
        #expect(ranges() == [nil, isNamed ? "bytes=20-" : nil])
    }

    @Test(
        "An error's body never reaches the target, nor the half file", arguments: [400, 403, 404, 416, 500])
    func error(status: Int) throws {
        files["/d/f"] = [1]
        let failing = ScriptedTransport(on: clock) { _ in
            .json(#"{"message":"no"}"#, status: .init(code: status))
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.files = files
        configuration.retry = .never
        let client = Client(configuration: configuration, transport: failing)
        let recorder = Recorder(client.download(Call(.get, "/f"), to: "/d/f"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == (status == 416 ? .invalidResponse : .status))
        #expect(recorder.failure?.status?.code == status)
        #expect(recorder.failure?.requestID != nil)
        #expect(files["/d/f"] == [1])
        #expect(files.paths == ["/d/f"])
        #expect(failing.runningCount == 0)
    }

    @Test("An error leaves the half file for the next time")
    func errorBetween() throws {
        server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.status(.serviceUnavailable)]
        }
        let recorder = start(retries: 2)
        try clock.run()
        expectDone(recorder, resumedFrom: 20)
        #expect(ranges() == [nil, "bytes=20-", "bytes=20-"])
    }

    @Test("Two to one path at the same time: the second is refused, and the first goes on")
    func twice() throws {
        let first = start()
        let second = start()
        try clock.run()
        expectDone(first)
        #expect(second.failure?.code == .file)
        #expect(second.failure?.message == "another download to /d/f is running")
        #expect(transport.exchanges.count == 1)
        let third = start()
        try clock.run()
        expectDone(third)
        let fourth = start()
        fourth.cancel()
        let fifth = start()
        try clock.run()
        expectDone(fifth)
    }

    @Test("The end frees the path: a download that follows from it is not refused")
    func inSuccession() throws {
        let client = client()
        let recorder = Recorder(
            Observable.concat([
                client.download(Call(.get, "/f"), to: "/d/f"), client.download(Call(.get, "/f"), to: "/d/f"),
            ]), on: clock)
        try clock.run()
        expectDone(recorder)
        #expect(transport.exchanges.count == 2)
    }

    @Test(
        "What the disk refuses fails, closes the transfer and leaves the target alone",
        arguments: [
            (MemoryFileSystem.Operation.status, "/d/f.part"), (.remove, "/d/f.part"),
            (.replace, "/d/f.part.json"), (.write, "/d/f.part"), (.synchronize, "/d/f.part"),
            (.move, "/d/f.part"),
        ])
    func disk(operation: MemoryFileSystem.Operation, path: String) throws {
        files["/d/f"] = [1]
        files.fail(operation, of: path, "disk full")
        let first = start()
        try clock.run()
        #expect(first.failure?.code == .file)
        #expect(first.failure?.message.contains("disk full") == true)
        #expect(first.failure?.url?.path == "/f")
        #expect(files["/d/f"] == [1])
        #expect(transport.runningCount == 0)
        let second = start()
        try clock.run()
        expectDone(second)
    }

    @Test("Without files there is no download")
    func noFiles() throws {
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(client.download(Call(.get, "/f"), to: "/d/f"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .file)
        #expect(transport.exchanges.isEmpty)
    }

    @Test("Progress: at most 20 a second, from what was there, and the last one always")
    func progress() throws {
        server.state.withLock {
            $0.content = Array(repeating: 1, count: 1000)
            $0.breaks = [100]
            $0.pieceSize = 1
            $0.pace = .milliseconds(10)
        }
        let recorder = start(retries: 1)
        try clock.run()
        let times = recorder.events.compactMap { event -> Duration? in
            if case .next(.progress) = event.kind { event.time } else { nil }
        }
        #expect(times.count > 150)
        #expect(
            zip(times.dropLast(), times.dropLast().dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(40) })
        #expect(recorder.progress.last == TransferProgress(bytes: 1000, expected: 1000))
        #expect(recorder.progress.contains(TransferProgress(bytes: 100, expected: 1000)))
    }

    @Test("What is not GET begins anew")
    func post() throws {
        server.state.withLock { $0.breaks = [20] }
        let first = start(Call(.post, "/f"))
        try clock.run()
        #expect(first.failure?.code == .partialBody)
        #expect(files["/d/f.part.json"] == nil)
        let second = start(Call(.post, "/f"))
        try clock.run()
        expectDone(second)
        #expect(ranges() == [nil, nil])
    }
}

extension Recorder where Element == DownloadEvent {
    fileprivate var progress: [TransferProgress] {
        values.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
    }
}
