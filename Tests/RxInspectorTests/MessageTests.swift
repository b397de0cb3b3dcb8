#if Inspector
import FlyingFox
import Foundation
import Testing

@testable import RxInspector

/// The messages between a browser and the server.
@Suite struct MessageTests {
    private func frame(_ text: String, _ opcode: WSFrame.Opcode, fin: Bool = true) -> WSFrame {
        WSFrame(fin: fin, opcode: opcode, mask: nil, payload: Data(text.utf8))
    }

    // MARK: Assembly

    @Test func framesAreJoined() {
        var messages = MessageAssembly(limit: 10)
        #expect(messages.take(frame("a", .text)) == .text("a"))
        #expect(messages.take(frame("a", .text, fin: false)) == .none)
        #expect(messages.take(frame("x", .ping)) == .reply(frame("x", .pong)))
        #expect(messages.take(frame("b", .continuation, fin: false)) == .none)
        #expect(messages.take(frame("", .pong)) == .none)
        #expect(messages.take(frame("c", .continuation)) == .text("abc"))
    }

    @Test(
        arguments: [
            ([(WSFrame.Opcode.continuation, "a", true)], 1002), ([(.binary, "a", true)], 1003),
            ([(.text, "a", false), (.text, "a", true)], 1002), ([(.text, "12345678901", true)], 1009),
            ([(.text, "12345", false), (.continuation, "678901", true)], 1009),
            ([(.ping, "a", false)], 1002), ([(.ping, String(repeating: "a", count: 126), true)], 1002),
            ([(WSFrame.Opcode(3), "a", true)], 1002),
        ] as [([(WSFrame.Opcode, String, Bool)], UInt16)])
    func malformedFramesEndTheConnection(frames: [(WSFrame.Opcode, String, Bool)], code: UInt16) {
        var messages = MessageAssembly(limit: 10)
        var last = MessageAssembly.Result.none
        for (opcode, text, fin) in frames { last = messages.take(frame(text, opcode, fin: fin)) }
        #expect(last == .end(.close(code: WSCloseCode(code))))
    }

    @Test func textMustBeUTF8AndReservedBitsZero() {
        var messages = MessageAssembly(limit: 10)
        let broken = WSFrame(fin: true, opcode: .text, mask: nil, payload: Data([0xFF]))
        #expect(messages.take(broken) == .end(.close(code: WSCloseCode(1007))))
        var reserved = frame("a", .text)
        reserved.rsv1 = true
        #expect(messages.take(reserved) == .end(.close(code: WSCloseCode(1002))))
    }

    // MARK: Outbox

    @Test func theOutboxIsBounded() async {
        let outbox = MessageOutbox(byteLimit: 10)
        outbox.send(frame("12345", .text))
        outbox.send(frame("12345", .text))
        #expect(outbox.isOpen)
        outbox.send(frame("1", .text))
        #expect(!outbox.isOpen)
        #expect(await outbox.next() == nil, "nothing is kept for a browser that does not read")
    }

    @Test func theOutboxSendsInOrderAndEnds() async {
        let outbox = MessageOutbox(byteLimit: 10_000)
        for number in 0..<3000 { outbox.send(frame("\(number % 10)", .text)) }
        outbox.finish()
        outbox.send(frame("x", .text))
        var texts = ""
        while let frame = await outbox.next() { texts += String(decoding: frame.payload, as: UTF8.self) }
        #expect(texts == String(repeating: "0123456789", count: 300))
    }

    @Test func aWaitingReaderReceivesTheNextMessage() async {
        let outbox = MessageOutbox(byteLimit: 10)
        async let first = outbox.next()
        outbox.send(frame("a", .text))
        #expect(await first == frame("a", .text))
        let waiting = Task { await outbox.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(!outbox.isOpen)
    }

    // MARK: Commands

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
