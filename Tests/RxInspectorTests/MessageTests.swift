#if Inspector
import Testing

@testable import RxInspector

/// The messages between a browser and the server.
@Suite struct MessageTests {
    // MARK: - Heads

    @Test func aHeadIsParsed() throws {
        let head = try #require(RequestHead("GET /a?b HTTP/1.1\r\nHost:\t a.test \r\nX: 1\r\nx: 2\r\n".utf8))
        #expect(head.method == "GET")
        #expect(head.path == "/a")
        #expect(head.query == "b")
        #expect(head.host == "a.test")
        #expect(head.fields.count == 3)
    }

    @Test(arguments: [
        "", "GET /", "GET  / HTTP/1.1", "GET / HTTP/2", "GET / HTTP/1.1\r\nHost", "GET / HTTP/1.1\r\n: a",
        "GET / HTTP/1.1\r\nA: b\r\n folded: c", "GET / HTTP/1.1\r\nA B: c",
    ])
    func malformedHeadsAreRefused(text: String) { #expect(RequestHead(text.utf8) == nil) }

    // MARK: - Outbox

    @Test func theOutboxIsBounded() async {
        let outbox = MessageOutbox(byteLimit: 10)
        outbox.send(frames: Array("12345".utf8))
        #expect(await outbox.next()?.count == 5)
        outbox.send(frames: Array("12345".utf8))
        #expect(outbox.isOpen, "the bytes that are being written count")
        #expect(outbox.waitingCount == 10)
        outbox.send(frames: [1])
        #expect(!outbox.isOpen)
        #expect(await outbox.next() == nil, "nothing is kept for a browser that does not read")
    }

    @Test func theOutboxSendsInOrderAndEnds() async {
        let outbox = MessageOutbox(byteLimit: 10_000)
        for number in 0..<3000 { outbox.send(frames: Array("\(number % 10)".utf8)) }
        outbox.finish()
        outbox.send(frames: Array("x".utf8))
        var texts = ""
        while let bytes = await outbox.next() { texts += String(decoding: bytes, as: UTF8.self) }
        #expect(texts == String(repeating: "0123456789", count: 300))
    }

    @Test func aWaitingReaderReceivesTheNextMessage() async {
        let outbox = MessageOutbox(byteLimit: 10)
        async let first = outbox.next()
        outbox.send("a")
        #expect(await first == [0x81, 3] + Array(#""a""#.utf8))
        let waiting = Task { await outbox.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(!outbox.isOpen)
    }

    // MARK: - Commands

    @Test(arguments: [
        ("", -32700), ("{", -32700), ("[]", -32600), ("1", -32600), (#"{"method":"a"}"#, -32600),
        (#"{"id":1}"#, -32600), (#"{"id":"1","method":"a"}"#, -32600), (#"{"id":1.5,"method":"a"}"#, -32600),
        (#"{"id":1,"method":2}"#, -32600),
    ])
    func malformedCommandsAreRefused(text: String, code: Int) {
        do throws(Command.Failure) {
            _ = try Command(text)
            Issue.record("accepted")
        } catch {
            #expect(error.code == code)
        }
    }

    @Test func deepNestingIsRefused() {
        let text = String(repeating: "[", count: 100_000)
        let error = #expect(throws: Command.Failure.self) { try Command(text) }
        #expect(error?.code == -32700)
    }

    @Test func repliesNameTheCommand() throws {
        let command = try Command(
            #"{"id":7,"method":"A.b","sessionId":"s","params":{"x":[1,2.5,null,true,"é\n"]}}"#)
        #expect(command.params["x"] == [1, 2.5, .null, true, "é\n"])
        let reply = command.reply(.failure(.unknownMethod("A.b")))
        #expect(
            String(decoding: reply.bytes, as: UTF8.self)
                == #"{"id":7,"sessionId":"s","error":{"code":-32601,"message":"'A.b' wasn't found"}}"#)
    }

    @Test func textsAreEscaped() {
        let text = "\"\\\u{0}\u{1F}\n/é😀"
        #expect(JSON.string(text).bytes == Array(#""\"\\\u0000\u001f\u000a/é😀""#.utf8))
        #expect(JSON(parsing: String(decoding: JSON.string(text).bytes, as: UTF8.self)) == .string(text))
        #expect(JSON.number(.infinity).bytes == Array("0".utf8))
    }
}
#endif
