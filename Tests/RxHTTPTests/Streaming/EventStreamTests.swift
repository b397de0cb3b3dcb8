import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct EventStreamTests {
    typealias Output = EventStreamParser.Output

    private static func read(
        _ pieces: [[UInt8]], lastEventID: String = "", limit: Int = 100
    ) -> (found: [Output], error: NetworkError?) {
        var parser = EventStreamParser(lastEventID: lastEventID, limit: limit)
        var found: [Output] = []
        do throws(NetworkError) {
            for piece in pieces { try parser.read(piece, into: &found) }
            try parser.finish(into: &found)
            return (found, nil)
        } catch {
            return (found, error)
        }
    }

    private static func event(_ data: String, _ type: String = "message", id: String = "") -> Output {
        .event(ServerSentEvent(type: type, data: data, lastEventID: id))
    }

    static let table: [(String, [Output])] = [
        ("data: a\n\n", [event("a")]),
        ("data:a\r\rdata:b\r\n\r\ndata:c\n\r", [event("a"), event("b"), event("c")]),
        ("data:a\r\ndata:b\n\r\n", [event("a\nb")]),
        ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", [event("a"), event("c")]),
        ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")]),
        (": comment\n:\n\ndata: a\n\n", [event("a")]),
        ("data:  two spaces\n\n", [event(" two spaces")]),
        ("data\n\n", [event("")]), ("data\ndata\n\n", [event("\n")]), ("data:\n\n", [event("")]),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        ("event: add\ndata: 7\n\ndata: 8\n\n", [event("7", "add"), event("8")]),
        ("event: add\n\ndata: 8\n\n", [event("8")]),
        ("event:\ndata: 8\n\n", [event("8")]),
        (
            "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            [event("a", id: "1"), event("b", id: "1"), event("c")]
        ),
        ("id: 1\n\ndata: b\n\n", [.lastEventID("1"), event("b", id: "1")]),
        ("id: 1\0\ndata: b\n\n", [event("b")]),
        ("id: 1\nid: 2\ndata: b\n\n", [event("b", id: "2")]),
        ("retry: 10\n\nretry: 1x\nretry: -1\nretry:\nretry: ٣\n", [.retry(.milliseconds(10))]),
        ("retry: 99999999999999999999\n", [.retry(.seconds(86_400))]),
        ("Data: a\n data: b\nunknown: c\nnothing\n\n", []),
        ("data: a", []), ("data: a\n", []), ("data: a\r", []), ("", []),
        ("data: 茶 🍵\n\n", [event("茶 🍵")]),
        ("data: a:b\n\n", [event("a:b")]),
    ]

    /// The rules of the standard, for every cut of the body.
    @Test(arguments: table)
    func rules(text: String, found: [Output]) {
        for pieces in Array(text.utf8).cuts {
            let result = Self.read(pieces)
            #expect(result.found == found, "\(pieces)")
            #expect(result.error == nil)
        }
    }

    /// An event is complete with its blank line, also if that ends with CR.
    @Test func prompt() throws {
        var parser = EventStreamParser(limit: 100)
        var found: [Output] = []
        try parser.read(Array("data: a\r\r".utf8), into: &found)
        #expect(found == [Self.event("a")])
        try parser.read(Array("\ndata: b\r\n\r".utf8), into: &found)
        #expect(found == [Self.event("a"), Self.event("b")])
    }

    /// A parser that starts from an id gives it to events without one.
    @Test func lastEventID() {
        #expect(
            Self.read([Array("data: a\n\n\n".utf8)], lastEventID: "7").found == [Self.event("a", id: "7")])
    }

    /// Invalid UTF-8 becomes U+FFFD.
    @Test func invalid() {
        let bytes = Array("data: a".utf8) + [0xC3, 0x0A, 0x0A]
        #expect(Self.read([bytes]).found == [Self.event("a\u{FFFD}")])
    }

    /// An event over the limit fails, after the events before it.
    @Test(arguments: [
        "data: a\n\ndata: 123456789012345\n\n", "data: a\n\ndata: 123456\ndata: 123456\ndata: 1",
        "data: a\n\n: 1234567890123456789",
    ])
    func limit(text: String) {
        for pieces in Array(text.utf8).cuts {
            let result = Self.read(pieces, limit: 18)
            #expect(result.found == [Self.event("a")])
            #expect(result.error?.code == .tooLarge)
        }
    }

    /// Mutated streams never trap, and give the same events for every cut.
    @Test(arguments: 0..<8)
    func mutated(seed: UInt64) {
        var random = SeededRandom(seed)
        let alphabet = Array("\r\n: \0adeirtv1".utf8) + [0xEF, 0xBB, 0xBF, 0xFF]
        for _ in 0..<500 {
            let text = Self.table.randomElement(using: &random)?.0 ?? ""
            let bytes = Array(text.utf8).mutated(by: &random, alphabet: alphabet)
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let whole = Self.read([bytes], limit: 20)
            let parts = Self.read([Array(bytes[..<cut]), Array(bytes[cut...])], limit: 20)
            #expect(whole.found == parts.found)
            #expect(whole.error?.code == parts.error?.code)
        }
    }

    /// The operator sends the events, typed.
    @Test func events() throws {
        let clock = VirtualScheduler()
        let recorder = Recorder(
            Observable<TransferEvent, NetworkError>.body("retry: 5\nid: 1\n\nevent: e\ndata: a\n\ndata: half")
                .serverSentEvents(), on: clock)
        try clock.run()
        #expect(recorder.values == [ServerSentEvent(type: "e", data: "a", lastEventID: "1")])
        #expect(recorder.isFinished)
    }
}
