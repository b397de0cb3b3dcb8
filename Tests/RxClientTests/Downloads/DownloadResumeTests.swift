import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Downloads that resume from partial files, and files that must not be appended to.
@Suite struct DownloadResumeTests {
    private let bench = DownloadBench()

    @Test("A download that breaks after so many bytes resumes there in the same run", arguments: 0...50)
    func goesOn(count: Int) throws {
        bench.server.state.withLock { $0.breaks = [count] }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
        let isWhole = count == 50
        bench.expectDone(recorder, resumedFrom: isWhole ? 0 : count)
        #expect(bench.ranges() == (isWhole ? [nil] : [nil, count == 0 ? nil : "bytes=\(count)-"]))
        #expect(
            bench.transport.requests.last?.headerFields[.ifRange] == (isWhole || count == 0 ? nil : "\"v1\""))
    }

    @Test("Repeated interruptions")
    func often() throws {
        bench.server.state.withLock { $0.breaks = [3, 9, 0, 20] }
        let recorder = bench.start(retries: 4)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 32)
        #expect(bench.ranges() == [nil, "bytes=3-", "bytes=12-", "bytes=12-", "bytes=32-"])
    }

    /// The state that a killed process would leave: each step of a file system takes a millisecond.
    @Test(
        "A download that is abandoned at any moment is finished by the next run", arguments: 0...30,
        [false, true])
    func left(millisecond: Int, changes: Bool) throws {
        let first = bench.start()
        try bench.clock.advance(by: .milliseconds(millisecond))
        first.cancel()
        let isDone = first.isFinished
        if changes, !isDone {
            bench.server.state.withLock {
                $0.content = DownloadBench.other
                $0.fields[.eTag] = "\"v2\""
            }
        }
        #expect(bench.files["/d/f"] == nil || bench.files["/d/f"] == DownloadBench.content)
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second, changes && !isDone ? DownloadBench.other : DownloadBench.content)
        #expect(bench.transport.runningCount == 0)
    }

    @Test("A changed file starts over, detected by tag and by date", arguments: [false, true])
    func changed(byDate: Bool) throws {
        let (old, now, new) = (
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", "Sun, 06 Nov 1994 08:49:50 GMT"
        )
        bench.server.state.withLock {
            $0.breaks = [20]
            if byDate { $0.fields = [.lastModified: old, .date: now] }
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.advance(by: .milliseconds(500))
        #expect(bench.files["/d/f.part"]?.count == 20)
        bench.server.state.withLock {
            $0.content = DownloadBench.other
            $0.fields = byDate ? [.lastModified: new, .date: now] : [.eTag: "\"v2\""]
        }
        try bench.clock.run()
        bench.expectDone(recorder, DownloadBench.other)
        #expect(bench.ranges() == [nil, "bytes=20-"])
    }

    @Test("A server that ignores ranges sends the whole file again")
    func ignoring() throws {
        bench.server.state.withLock {
            $0.breaks = [20]
            $0.ignoresRange = true
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: nil)
        #expect(bench.ranges() == [nil, "bytes=20-"])
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

    @Test("A server that sends a wrong range is asked for the whole file", arguments: lies)
    func lying(status: Int, fields: HTTPFields) throws {
        bench.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.bytes(Array(repeating: 99, count: 30), status: .init(code: status), headers: fields)]
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
        bench.expectDone(recorder)
        #expect(bench.ranges() == [nil, "bytes=20-", nil])
        #expect(bench.transport.runningCount == 0)
    }

    @Test(
        "A part that is too long is cut; one that is too short is continued", arguments: [31, 29])
    func wrongLength(count: Int) throws {
        let bytes = Array(DownloadBench.content[20...]) + [99]
        bench.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [
                .bytes(
                    Array(bytes.prefix(count)), status: .partialContent,
                    headers: [.contentRange: "bytes 20-49/50"])
            ]
        }
        let first = bench.start(retries: 1)
        try bench.clock.run()
        #expect(first.failure?.code == (count > 30 ? .invalidResponse : .partialBody))
        #expect(bench.files["/d/f"] == nil)
        #expect(bench.files["/d/f.part"].map { DownloadBench.content.starts(with: $0) } == true)
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second)
    }

    @Test("A server that sends less than the missing bytes is asked for the rest")
    func slices() throws {
        bench.server.state.withLock {
            $0.breaks = [5]
            $0.slice = 10
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 45)
        #expect(bench.ranges() == [nil] + [5, 15, 25, 35, 45].map { "bytes=\($0)-" })
    }

    @Test("A complete file: 416 confirms it, and nothing is fetched")
    func complete() throws {
        bench.server.state.withLock { $0.breaks = [20] }
        let first = bench.start()
        try bench.clock.run()
        #expect(first.failure?.code == .partialBody)
        bench.files["/d/f.part"] = DownloadBench.content
        let second = bench.start()
        try bench.clock.run()
        bench.expectDone(second, resumedFrom: 50)
        #expect(bench.ranges() == [nil, "bytes=50-"])
    }

    @Test(
        "Without a strong validator nothing is appended to",
        arguments: [
            [:], [.eTag: "W/\"v1\""], [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func weak(fields: HTTPFields) throws {
        bench.server.state.withLock {
            $0.fields = fields
            $0.breaks = [20]
        }
        let recorder = bench.start(retries: 1)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 0)
        #expect(bench.ranges() == [nil, nil])
    }

    @Test("A partial file of another URL, with a broken record or without one, starts over", arguments: 0..<4)
    func foreign(kind: Int) throws {
        bench.files["/d/f.part"] = [9, 9, 9]
        let record = [
            #"{"url":"http://shop.test/g","etag":"\"v1\""}"#, #"{"url":"http://shop.test/f","etag":"\"v1"#,
            String(repeating: " ", count: 70_000) + #"{"url":"http://shop.test/f","etag":"\"v1\""}"#,
        ]
        if kind < 3 { bench.files["/d/f.part.json"] = Array(record[kind].utf8) }
        let recorder = bench.start()
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 0)
        #expect(bench.ranges() == [nil])
    }

    @Test(
        "An expiring signature does not make it another file if its parameter is ignored",
        arguments: [true, false])
    func signature(isNamed: Bool) throws {
        bench.server.state.withLock { $0.breaks = [20] }
        let first = bench.start(InlineEndpoint(.get, "/f?v=2&sig=abc"), ignoring: isNamed ? ["sig"] : [])
        try bench.clock.run()
        #expect(first.failure?.code == .partialBody)
        let record = String(decoding: bench.files["/d/f.part.json"] ?? [], as: UTF8.self)
        #expect(record.contains("sig=abc") == !isNamed)
        #expect(record.contains("v=2"))
        let second = bench.start(InlineEndpoint(.get, "/f?v=2&sig=xyz"), ignoring: isNamed ? ["sig"] : [])
        try bench.clock.run()
        bench.expectDone(second)
        #expect(bench.ranges() == [nil, isNamed ? "bytes=20-" : nil])
    }

    @Test("An error keeps the partial file for the next attempt")
    func errorBetween() throws {
        bench.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.status(.serviceUnavailable)]
        }
        let recorder = bench.start(retries: 2)
        try bench.clock.run()
        bench.expectDone(recorder, resumedFrom: 20)
        #expect(bench.ranges() == [nil, "bytes=20-", "bytes=20-"])
    }

    @Test("A method other than GET starts over")
    func post() throws {
        bench.server.state.withLock { $0.breaks = [20] }
        let first = bench.start(InlineEndpoint(.post, "/f"))
        try bench.clock.run()
        #expect(first.failure?.code == .partialBody)
        #expect(bench.files["/d/f.part.json"] == nil)
        let second = bench.start(InlineEndpoint(.post, "/f"))
        try bench.clock.run()
        bench.expectDone(second)
        #expect(bench.ranges() == [nil, nil])
    }
}
