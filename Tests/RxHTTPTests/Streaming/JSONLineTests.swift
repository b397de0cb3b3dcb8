import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct JSONLineTests {
    private struct Goods: Codable, Sendable, Equatable {
        var id: Int
        var tags: [String] = []
    }

    private let clock = VirtualScheduler()

    private func read(_ text: String) throws -> Recorder<Goods, NetworkError> {
        let recorder = Recorder(
            Observable<TransferEvent, NetworkError>.body(text).jsonLines(Goods.self), on: clock)
        try clock.run()
        return recorder
    }

    /// Each line is a value; blank lines are skipped.
    @Test func values() throws {
        let recorder = try read("{\"id\":1,\"tags\":[]}\r\n\n \t\n{\"id\":2,\"tags\":[\"茶\"]}")
        #expect(recorder.values == [Goods(id: 1), Goods(id: 2, tags: ["茶"])])
        #expect(recorder.isFinished)
    }

    /// A line that does not decode fails with its number and place, after the values before it.
    @Test(arguments: [
        (#"{"id":2,"tags":["a",3]}"#, "tags[1]"), (#"{"tags":[]}"#, "id"), (#"{"id":"#, ""),
        (#"[1]"#, ""),
    ])
    func mismatch(line: String, path: String) throws {
        let recorder = try read("\n{\"id\":1,\"tags\":[]}\n\(line)\n{\"id\":4,\"tags\":[]}")
        #expect(recorder.values == [Goods(id: 1)])
        let error = try #require(recorder.failure)
        #expect(error.code == .decoding)
        #expect(error.message.hasPrefix("line 3, at \(path.isEmpty ? "the top level" : path): "))
        #expect(error.codingPath == path)
        #expect(error.body == Array(line.utf8))
    }

    /// A large line is decoded elsewhere, and keeps its place.
    @Test func large() async throws {
        let tags = (0..<40_000).map { "tag \($0)" }
        let large = String(decoding: try JSONEncoder().encode(Goods(id: 2, tags: tags)), as: UTF8.self)
        let text = "{\"id\":1,\"tags\":[]}\n\(large)\n{\"id\":3,\"tags\":[]}\n"
        var ids: [Int] = []
        let stream = Observable<TransferEvent, NetworkError>.body(text).jsonLines(Goods.self)
        for try await goods in stream.values(buffering: .unbounded) { ids.append(goods.id) }
        #expect(ids == [1, 2, 3])
    }
}
