import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct SavingTests {
    private let clock = VirtualScheduler()

    private func transport(_ steps: ScriptedTransport.Step...) throws -> (
        ScriptedTransport, Observable<TransferEvent, NetworkError>
    ) {
        let transport = ScriptedTransport(on: clock) { _ in .init(steps) }
        return (transport, transport.send(Request(url: try #require(URL(string: "http://a.test/")))))
    }

    private static func head(_ fields: HTTPFields = [:]) -> ScriptedTransport.Step {
        .head(ResponseHead(status: .ok, headerFields: fields))
    }

    private static func chunk(_ count: Int) -> ScriptedTransport.Step {
        .chunk(Array(repeating: 7, count: count))
    }

    /// Progress: 20 a second, the first with the head, the last with the end, which knows the size.
    @Test func progress() throws {
        var steps = [Self.head([.contentLength: "100"])]
        for _ in 0..<100 { steps += [.wait(.milliseconds(10)), Self.chunk(1)] }
        let transport = ScriptedTransport(on: clock) { [steps] _ in .init(steps + [.finish]) }
        let request = Request(url: try #require(URL(string: "http://a.test/")))
        let recorder = Recorder(transport.send(request).downloadProgress(), on: clock)
        try clock.run()
        #expect(recorder.values.map(\.bytes) == Array(stride(from: 0, through: 100, by: 5)))
        #expect(recorder.values.allSatisfy { $0.expected == 100 })
        #expect(recorder.values.last?.fraction == 1)
        #expect(recorder.isFinished)
    }

    /// The expected size is the length, unless that is not the body's.
    @Test(
        arguments: [
            ([:], nil), ([.contentLength: "3"], 3), ([.contentLength: "3", .contentEncoding: "gzip"], nil),
            ([.contentLength: "3", .contentEncoding: "identity"], 3), ([.contentLength: "-3"], nil),
            ([.contentLength: "99999999999999999999"], nil),
        ] as [(HTTPFields, Int64?)])
    func expected(fields: HTTPFields, expected: Int64?) throws {
        let (_, events) = try transport(Self.head(fields), Self.chunk(3), .finish)
        let recorder = Recorder(events.downloadProgress(), on: clock)
        try clock.run()
        #expect(recorder.values.first == TransferProgress(bytes: 0, expected: expected))
        #expect(recorder.values.last == TransferProgress(bytes: 3, expected: 3))
    }

    /// The last progress also comes before a failure.
    @Test func failing() throws {
        let (_, events) = try transport(
            Self.head(), Self.chunk(3), Self.chunk(2), .fail(NetworkError(.partialBody, "cut")))
        let recorder = Recorder(events.downloadProgress(), on: clock)
        try clock.run()
        #expect(recorder.values.last == TransferProgress(bytes: 5))
        #expect(recorder.failure?.code == .partialBody)
    }

    /// The fraction of an empty body is 1.
    @Test func fraction() {
        #expect(TransferProgress(bytes: 0, expected: 0).fraction == 1)
        #expect(TransferProgress(bytes: 1, expected: 4).fraction == 0.25)
        #expect(TransferProgress(bytes: 9, expected: 4).fraction == 1)
        #expect(TransferProgress(bytes: 9).fraction == nil)
    }

    /// A file appears complete, and no draft remains.
    @Test func file() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
        files["/f"] = [1]
        let (_, events) = try transport(
            Self.head([.contentLength: "5"]), Self.chunk(3), .wait(.seconds(1)), Self.chunk(2), .finish)
        let recorder = Recorder(events.file(at: "/f", in: files), on: clock)
        try clock.advance(by: .milliseconds(900))
        #expect(files["/f"] == [1])
        #expect(files["/f.part"]?.count == 3)
        try clock.run()
        #expect(files["/f"] == Array(repeating: 7, count: 5))
        #expect(files.paths == ["/f"])
        #expect(recorder.values.last == TransferProgress(bytes: 5, expected: 5))
        #expect(recorder.isFinished)
    }

    /// A body that ends early, or a disk that fails, changes nothing at the path.
    @Test(arguments: 0..<4)
    func broken(kind: Int) throws {
        let files = MemoryFileSystem(on: clock)
        files["/f"] = [1]
        if kind == 1 { files.fail(.write, of: "/f.part") }
        if kind == 2 { files.fail(.synchronize, of: "/f.part") }
        if kind == 3 { files.fail(.move, of: "/f.part") }
        let (transport, events) = try transport(
            Self.head(), Self.chunk(3), kind == 0 ? .fail(NetworkError(.partialBody, "cut")) : .finish)
        let recorder = Recorder(events.file(at: "/f", in: files), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == (kind == 0 ? .partialBody : .file))
        #expect(files["/f"] == [1])
        #expect(transport.runningCount == 0)
    }

    /// Two streams do not write to one file: the second is refused, and one after the first is not.
    @Test func twice() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
        let (_, events) = try transport(
            Self.head(), Self.chunk(3), .wait(.seconds(1)), Self.chunk(2), .finish)
        let first = Recorder(events.file(at: "/d/f", in: files), on: clock)
        let second = Recorder(events.file(at: "/d/./f", in: files), on: clock)
        try clock.run()
        #expect(first.isFinished)
        #expect(second.failure?.code == .file)
        #expect(files["/d/f"]?.count == 5)
        let folder = Recorder(events.file(at: "/d", in: files), on: clock)
        let third = Recorder(events.file(at: "/d/f", in: files), on: clock)
        try clock.run()
        #expect(folder.failure?.message == "/d is a folder; add the name of a file")
        #expect(third.isFinished)
        #expect(files.paths == ["/d/f"])
    }

    /// A slow disk pauses the network, and loses nothing.
    @Test func backpressure() throws {
        let files = MemoryFileSystem(on: clock, latency: .seconds(1))
        let chunk = Array(repeating: UInt8(1), count: 1 << 20)
        let steps = [Self.head()] + Array(repeating: .chunk(chunk), count: 20) + [.finish]
        let transport = ScriptedTransport(on: clock) { _ in .init(steps) }
        let request = Request(url: try #require(URL(string: "http://a.test/")))
        let recorder = Recorder(transport.send(request).file(at: "/f", in: files), on: clock)
        try clock.advance(by: .seconds(5))
        #expect(transport.runningCount == 1)
        try clock.run()
        #expect(files["/f"]?.count == 20 << 20)
        #expect(recorder.isFinished)
    }
}
