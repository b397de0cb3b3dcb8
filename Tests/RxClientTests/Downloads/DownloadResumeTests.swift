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
    private let fixture = DownloadFixture()

    /// A download that breaks after so many bytes resumes there in the same run.
    @Test(arguments: 0...50)
    func goesOn(count: Int) throws {
        fixture.server.state.withLock { $0.breaks = [count] }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        let isWhole = count == 50
        fixture.expectDone(recorder, resumedFrom: isWhole ? 0 : count)
        #expect(fixture.ranges() == (isWhole ? [nil] : [nil, count == 0 ? nil : "bytes=\(count)-"]))
        #expect(
            fixture.transport.requests.last?.headerFields[.ifRange]
                == (isWhole || count == 0 ? nil : "\"v1\""))
    }

    /// Repeated interruptions.
    @Test func often() throws {
        fixture.server.state.withLock { $0.breaks = [3, 9, 0, 20] }
        let recorder = fixture.start(retries: 4)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 32)
        #expect(fixture.ranges() == [nil, "bytes=3-", "bytes=12-", "bytes=12-", "bytes=32-"])
    }

    /// The state that a killed process would leave: each step of a file system takes a millisecond.
    /// A download that is abandoned at any moment is finished by the next run.
    @Test(
        arguments: 0...30,
        [false, true])
    func left(millisecond: Int, changes: Bool) throws {
        let first = fixture.start()
        try fixture.clock.advance(by: .milliseconds(millisecond))
        first.cancel()
        let isDone = first.isFinished
        if changes, !isDone {
            fixture.server.state.withLock {
                $0.content = DownloadFixture.other
                $0.fields[.eTag] = "\"v2\""
            }
        }
        #expect(fixture.files["/d/f"] == nil || fixture.files["/d/f"] == DownloadFixture.content)
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second, changes && !isDone ? DownloadFixture.other : DownloadFixture.content)
        #expect(fixture.transport.runningCount == 0)
    }

    /// A changed file starts over, detected by tag and by date.
    @Test(arguments: [false, true])
    func changed(byDate: Bool) throws {
        let (old, now, new) = (
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", "Sun, 06 Nov 1994 08:49:50 GMT"
        )
        fixture.server.state.withLock {
            $0.breaks = [20]
            if byDate { $0.fields = [.lastModified: old, .date: now] }
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.advance(by: .milliseconds(500))
        #expect(fixture.files["/d/f.part"]?.count == 20)
        fixture.server.state.withLock {
            $0.content = DownloadFixture.other
            $0.fields = byDate ? [.lastModified: new, .date: now] : [.eTag: "\"v2\""]
        }
        try fixture.clock.run()
        fixture.expectDone(recorder, DownloadFixture.other)
        #expect(fixture.ranges() == [nil, "bytes=20-"])
    }

    /// A server that ignores ranges sends the whole file again.
    @Test func ignoring() throws {
        fixture.server.state.withLock {
            $0.breaks = [20]
            $0.ignoresRange = true
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: nil)
        #expect(fixture.ranges() == [nil, "bytes=20-"])
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

    /// A server that sends a wrong range is asked for the whole file.
    @Test(arguments: lies)
    func lying(status: Int, fields: HTTPFields) throws {
        fixture.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.bytes(Array(repeating: 99, count: 30), status: .init(code: status), headers: fields)]
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        fixture.expectDone(recorder)
        #expect(fixture.ranges() == [nil, "bytes=20-", nil])
        #expect(fixture.transport.runningCount == 0)
    }

    /// A part that is too long is cut; one that is too short is continued.
    @Test(arguments: [31, 29])
    func wrongLength(count: Int) throws {
        let bytes = Array(DownloadFixture.content[20...]) + [99]
        fixture.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [
                .bytes(
                    Array(bytes.prefix(count)), status: .partialContent,
                    headers: [.contentRange: "bytes 20-49/50"])
            ]
        }
        let first = fixture.start(retries: 1)
        try fixture.clock.run()
        #expect(first.failure?.code == (count > 30 ? .invalidResponse : .partialBody))
        #expect(fixture.files["/d/f"] == nil)
        #expect(fixture.files["/d/f.part"].map { DownloadFixture.content.starts(with: $0) } == true)
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second)
    }

    /// A server that sends less than the missing bytes is asked for the rest.
    @Test func slices() throws {
        fixture.server.state.withLock {
            $0.breaks = [5]
            $0.slice = 10
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 45)
        #expect(fixture.ranges() == [nil] + [5, 15, 25, 35, 45].map { "bytes=\($0)-" })
    }

    /// A complete file: 416 confirms it, and nothing is fetched.
    @Test func complete() throws {
        fixture.server.state.withLock { $0.breaks = [20] }
        let first = fixture.start()
        try fixture.clock.run()
        #expect(first.failure?.code == .partialBody)
        fixture.files["/d/f.part"] = DownloadFixture.content
        let second = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(second, resumedFrom: 50)
        #expect(fixture.ranges() == [nil, "bytes=50-"])
    }

    /// Without a strong validator nothing is appended to.
    @Test(
        arguments: [
            [:], [.eTag: "W/\"v1\""], [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func weak(fields: HTTPFields) throws {
        fixture.server.state.withLock {
            $0.fields = fields
            $0.breaks = [20]
        }
        let recorder = fixture.start(retries: 1)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 0)
        #expect(fixture.ranges() == [nil, nil])
    }

    /// A partial file of another URL, with a broken record or without one, starts over.
    @Test(arguments: 0..<4)
    func foreign(kind: Int) throws {
        fixture.files["/d/f.part"] = [9, 9, 9]
        let record = [
            #"{"url":"http://shop.test/g","etag":"\"v1\""}"#, #"{"url":"http://shop.test/f","etag":"\"v1"#,
            String(repeating: " ", count: 70_000) + #"{"url":"http://shop.test/f","etag":"\"v1\""}"#,
        ]
        if kind < 3 { fixture.files["/d/f.part.json"] = Array(record[kind].utf8) }
        let recorder = fixture.start()
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 0)
        #expect(fixture.ranges() == [nil])
    }

    /// An expiring signature does not make it another file if its parameter is ignored.
    @Test(arguments: [true, false])
    func signature(isNamed: Bool) throws {
        fixture.server.state.withLock { $0.breaks = [20] }
        let first = fixture.start(InlineEndpoint(.get, "/f?v=2&sig=abc"), ignoring: isNamed ? ["sig"] : [])
        try fixture.clock.run()
        #expect(first.failure?.code == .partialBody)
        let record = String(decoding: fixture.files["/d/f.part.json"] ?? [], as: UTF8.self)
        #expect(record.contains("sig=abc") == !isNamed)
        #expect(record.contains("v=2"))
        let second = fixture.start(InlineEndpoint(.get, "/f?v=2&sig=xyz"), ignoring: isNamed ? ["sig"] : [])
        try fixture.clock.run()
        fixture.expectDone(second)
        #expect(fixture.ranges() == [nil, isNamed ? "bytes=20-" : nil])
    }

    /// An error keeps the partial file for the next attempt.
    @Test func errorBetween() throws {
        fixture.server.state.withLock {
            $0.breaks = [20]
            $0.lies = [.status(.serviceUnavailable)]
        }
        let recorder = fixture.start(retries: 2)
        try fixture.clock.run()
        fixture.expectDone(recorder, resumedFrom: 20)
        #expect(fixture.ranges() == [nil, "bytes=20-", "bytes=20-"])
    }

    /// A method other than GET starts over.
    @Test func post() throws {
        fixture.server.state.withLock { $0.breaks = [20] }
        let first = fixture.start(InlineEndpoint(.post, "/f"))
        try fixture.clock.run()
        #expect(first.failure?.code == .partialBody)
        #expect(fixture.files["/d/f.part.json"] == nil)
        let second = fixture.start(InlineEndpoint(.post, "/f"))
        try fixture.clock.run()
        fixture.expectDone(second)
        #expect(fixture.ranges() == [nil, nil])
    }
}
