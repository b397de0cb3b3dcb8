import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct LineTests {
    private let clock = VirtualScheduler()

    private func read(
        _ stream: Observable<TransferEvent, NetworkError>, limit: Int = 100
    ) throws -> Recorder<String, NetworkError> {
        let recorder = Recorder(stream.lines(limit: limit), on: clock)
        try clock.run()
        return recorder
    }

    /// Lines end in LF or CR LF, for every cut of the body.
    @Test(
        arguments: [
            ("a\nbb\r\nccc", ["a", "bb", "ccc"]), ("", []), ("\n", [""]), ("\r\n\r\n", ["", ""]),
            ("a\rb\n", ["a\rb"]), ("a\r\r\n", ["a\r"]), ("a\r", ["a"].map { $0 + "\r" }),
            ("grün\n茶\n🍵", ["grün", "茶", "🍵"]), ("a\n\nb\n", ["a", "", "b"]),
        ] as [(String, [String])])
    func lines(text: String, lines: [String]) throws {
        for pieces in Array(text.utf8).cuts {
            let recorder = try read(.body(pieces))
            #expect(recorder.values == lines)
            #expect(recorder.isFinished)
        }
    }

    /// Invalid UTF-8 becomes U+FFFD.
    @Test func invalid() throws {
        let recorder = try read(.body([[0x61, 0xFF], [0xC3], [0x0A, 0x62]]))
        #expect(recorder.values == ["a\u{FFFD}\u{FFFD}", "b"])
    }

    /// A line of exactly the limit is accepted; a longer one fails after the lines before it.
    @Test(arguments: [0, 1, 3])
    func limit(limit: Int) throws {
        let fit = String(repeating: "x", count: limit)
        for end in ["\n", "\r\n"] {
            let text = fit + end + fit + end + fit + "y" + end + "z"
            for pieces in Array(text.utf8).cuts {
                let recorder = try read(.body(pieces), limit: limit)
                #expect(recorder.values == [fit, fit])
                #expect(recorder.failure?.code == .tooLarge)
                #expect(recorder.failure?.message == "line 3 of the body is longer than \(limit) bytes")
                #expect(recorder.failure?.status == .ok)
            }
        }
    }

    /// An endless line is refused as soon as it is too long, and the transfer stopped.
    @Test func endless() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            .steps(.head(ResponseHead(status: .ok)), .chunk(Array(repeating: 0x61, count: 11)), .stall)
        }
        let request = Request(url: try #require(URL(string: "http://a.test/")))
        let recorder = try read(transport.send(request), limit: 10)
        #expect(recorder.failure?.code == .tooLarge)
        #expect(transport.exchanges.map(\.outcome) == [.cancelled])
    }

    /// An incomplete last line of a body that ends early is not delivered.
    @Test func broken() throws {
        let recorder = try read(
            .body([Array("a\nhalf".utf8)], failing: NetworkError(.partialBody, "cut")))
        #expect(recorder.values == ["a"])
        #expect(recorder.failure?.code == .partialBody)
    }

    /// A subscriber that pauses at each line gets one at a time; the network waits, a few pieces ahead.
    @Test func backpressure() throws {
        let pieces = (0..<60).map { ScriptedTransport.Step.chunk(Array("\($0)\n\($0)a\n".utf8)) }
        let transport = ScriptedTransport(on: clock) { _ in
            .init([.head(ResponseHead(status: .ok))] + pieces + [.finish])
        }
        let request = Request(url: try #require(URL(string: "http://a.test/")))
        let recorder = Recorder(transport.send(request).lines().slowly(.seconds(1), on: clock), on: clock)
        for second in 0..<120 {
            try clock.advance(to: .seconds(second))
            #expect(recorder.values.count == second + 1)
            #expect(recorder.values.last == "\(second / 2)" + (second % 2 == 0 ? "" : "a"))
            #expect(transport.runningCount == 1 || second > 60)
            #expect(recorder.completion == nil)
        }
        try clock.run()
        #expect(recorder.isFinished)
    }

    /// Mutated bodies never trap, and lines contain no LF.
    @Test(arguments: 0..<8)
    func mutated(seed: UInt64) throws {
        var random = SeededRandom(seed)
        for _ in 0..<200 {
            let bytes = Array("one\r\ntwo\nthree\r\r\n\u{FFFD}\n".utf8).mutated(
                by: &random, alphabet: [0x0A, 0x0D, 0x61, 0xC3, 0xFF])
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let recorder = try read(.body([Array(bytes[..<cut]), Array(bytes[cut...])]), limit: 12)
            let whole = try read(.body([bytes]), limit: 12)
            #expect(recorder.values == whole.values)
            #expect(recorder.failure?.message == whole.failure?.message)
            #expect(recorder.values.allSatisfy { !$0.utf8.contains(0x0A) && $0.utf8.count <= 36 })
        }
    }
}
