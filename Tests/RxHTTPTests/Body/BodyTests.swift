import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct BodyTests {
    let clock = VirtualScheduler()

    private func chunks(_ body: Body, _ files: MemoryFileSystem) throws -> ([[UInt8]], NetworkError?) {
        guard case .streamed(let streamed) = body else { return ([], nil) }
        let recorder = Recorder(streamed.open(files).flatMap { $0.chunks }, on: clock)
        try clock.run()
        guard case .failed(let error) = recorder.completion else { return (recorder.values, nil) }
        return (recorder.values, error)
    }

    @Test(
        arguments: [
            (2, [[1], [2]], [[1], [2]], nil), (0, [], [], nil), (0, [[]], [], nil),
            (3, [[1], [2]], [[1], [2]], .bodyLength), (1, [[1], [2]], [], .bodyLength),
            (1, [[1, 2]], [], .bodyLength),
            (0, [[1]], [], .bodyLength), (2, [[1], [], [2], []], [[1], [2]], nil),
        ] as [(Int64, [[UInt8]], [[UInt8]], NetworkError.Code?)])
    func aStreamIsHeldToItsLength(
        length: Int64, given: [[UInt8]], sent: [[UInt8]], code: NetworkError.Code?
    ) throws {
        let (values, error) = try chunks(
            .stream(.sequence(given), length: length), MemoryFileSystem(on: clock))
        #expect(error?.code == code)
        #expect(values == sent)
    }

    /// The last chunk of an endless stream may be one too many.
    @Test func whatCompletesTheLengthWaitsForTheEnd() throws {
        let source = Signal<[UInt8]>()
        let body = Body.stream(source.observable.setFailureType(), length: 2)
        guard case .streamed(let streamed) = body else { return }
        let recorder = Recorder(streamed.open(MemoryFileSystem(on: clock)).flatMap { $0.chunks }, on: clock)
        source.send([1])
        source.send([2])
        try clock.run()
        #expect(recorder.values == [[1]])
        source.send([3])
        try clock.run()
        #expect(recorder.values == [[1]])
        guard case .failed(let error) = recorder.completion else { Issue.record("no end"); return }
        #expect(error.code == .bodyLength)
    }

    /// A third-party transport gets the length, if it is known, and the bytes.
    @Test(
        arguments: [
            (.file("a", range: 1..<3), 2, [2, 3]), (.stream(.sequence([[1], [2]])), nil, [1, 2]),
            (.stream(.sequence([[1], [2]]), length: 2), 2, [1, 2]),
        ] as [(Body, Int64?, [UInt8])])
    func content(body: Body, length: Int64?, bytes: [UInt8]) throws {
        let files = MemoryFileSystem(on: clock)
        files["a"] = [1, 2, 3, 4]
        guard case .streamed(let body) = body else { return }
        let recorder = Recorder(body.content(from: files), on: clock)
        try clock.run()
        let content = try #require(recorder.values.first)
        #expect(recorder.values.count == 1 && recorder.isFinished)
        #expect(content.length == length)
        let chunks = Recorder(content.chunks, on: clock)
        try clock.run()
        #expect(Array(chunks.values.joined()) == bytes)
        #expect(chunks.isFinished)
    }

    /// A transport may read the file itself, unless the body has been replaced.
    @Test func contentThatWasChangedIsNoFile() throws {
        let files = MemoryFileSystem(on: clock)
        files["a"] = [1, 2, 3]
        guard case .streamed(let body) = Body.file("a", range: 1..<3) else { return }
        let recorder = Recorder(body.open(files), on: clock)
        try clock.run()
        let content = try #require(recorder.values.first)
        #expect(content.file?.path == "a")
        #expect(content.file?.offset == 1)
        #expect(content.file?.count == 2)
        var other = content
        other.chunks = .just([1, 2])
        #expect(other.file == nil)
        other = content
        other.length = nil
        #expect(other.file == nil)
    }

    @Test func aFileIsLookedAtWhenItIsSent() throws {
        let files = MemoryFileSystem(on: clock)
        let body = Body.file("a", range: 1..<3)
        #expect(body.count == 2)
        #expect(body.isReplayable)
        #expect(try chunks(body, files).1?.code == .file)
        files["a"] = [1, 2, 3, 4]
        #expect(try chunks(body, files).0 == [[2, 3]])
        files["a"] = [5, 6, 7]
        #expect(try chunks(body, files).0 == [[6, 7]])
        files["a"] = [5, 6]
        #expect(try chunks(body, files).1?.code == .file)
    }

    @Test(arguments: [
        (ContinuePolicy.never, [false, false, false]), (.always, [false, true, true]),
        (.from(1000), [false, false, true]),
    ]) func asksFirst(policy: ContinuePolicy, expected: [Bool]) {
        #expect([0, 999, 1000].map { policy.asks(before: $0) } == expected)
        #expect(policy.asks(before: nil) == (policy.threshold != nil))
    }
}
