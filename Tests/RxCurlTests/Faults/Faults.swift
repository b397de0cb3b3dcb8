import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers

extension Fault {
    static let all = [
        broken, stalling, malformedHeads, oversized, lengths, chunked, coded, brotli, zstd, uploads,
        streamed,
    ].flatMap(
        \.self)

    /// Whether libcurl puts a folded field on one line, with one space for the fold, before it reads it (RFC 9112 §5.2).
    static let unfolds = LibcurlFeatures.running.version >= .init(8, 18)
    /// Whether libcurl refuses a CR in a field.
    static let refusesCR = LibcurlFeatures.running.version >= .init(8, 21)

    static let broken: [Fault] = [
        Fault(name: "reset while sending", steps: [.closeWithoutReading], outcome: .fails(.connectionLost)),
        Fault(
            name: "reset before the head", steps: [.readRequest, .reset], outcome: .fails(.connectionLost)),
        sends("reset in the status line", "HTTP/1.", then: [.reset], .fails(.connectionLost)),
        sends("reset in the head", "HTTP/1.1 200 OK\r\nA: b\r\n", then: [.reset], .fails(.connectionLost)),
        sends(
            "reset after a 103", "HTTP/1.1 103 Early\r\nA: b\r\n\r\n", then: [.reset], .fails(.connectionLost)
        ),
        sends(
            "reset before a body with length", fields: ["Content-Length: 10"], then: [.reset],
            .fails(.connectionLost, status: 200)),
        sends(
            "reset in a body with length", fields: ["Content-Length: 10"], body: "half", then: [.reset],
            .fails(.connectionLost, status: 200)),
        sends(
            "reset in a body without length", fields: [], body: "half", then: [.reset],
            .fails(.connectionLost, status: 200)),
        sends("reset in a chunk size", chunks: "1", then: [.reset], .fails(.connectionLost, status: 200)),
        sends("reset in a chunk", chunks: "a\r\nhalf", then: [.reset], .fails(.connectionLost, status: 200)),
        sends(
            "reset between chunks", chunks: "4\r\nhalf\r\n", then: [.reset],
            .fails(.connectionLost, status: 200)),
        sends(
            "reset in the trailers", chunks: "4\r\nhalf\r\n0\r\nA: b\r\n", then: [.reset],
            .fails(.connectionLost, status: 200)),
        sends(
            "FIN in the trailers", chunks: "4\r\nhalf\r\n0\r\nA: b\r\n", .fails(.partialBody, status: 200)),
        sends("FIN in the status line", "HTTP/1.1 20", .fails(.emptyReply)),
        sends("FIN after the status line", "HTTP/1.1 200 OK\r\n", .fails(.emptyReply)),
        sends("FIN in the head", "HTTP/1.1 200 OK\r\nContent-Len", .fails(.emptyReply)),
        sends("FIN after a 100", "HTTP/1.1 100 Continue\r\n\r\n", .fails(.emptyReply)),
        Fault(name: "FIN before any byte", steps: [.readRequest, .close], outcome: .fails(.emptyReply)),
        sends(
            "FIN in a body with length", fields: ["Content-Length: 10"], body: "half",
            .fails(.partialBody, status: 200)),
        sends(
            "FIN before a body with length", fields: ["Content-Length: 10"],
            .fails(.partialBody, status: 200)),
        sends("FIN before the first chunk", chunks: "", .fails(.partialBody, status: 200)),
        sends("FIN in a chunk size", chunks: "1", .fails(.partialBody, status: 200)),
        sends("FIN in a chunk", chunks: "a\r\nhalf", .fails(.partialBody, status: 200)),
        sends("the last chunk is missing", chunks: "4\r\nhalf\r\n", .fails(.partialBody, status: 200)),
        sends("FIN in the last chunk", chunks: "4\r\nhalf\r\n0\r\n", .fails(.partialBody, status: 200)),
        sends("FIN ends a body without length", fields: [], body: "whole", .answers(body: "whole")),
        sends("an error status is an answer", "HTTP/1.1 500 X\r\n\r\nno", .answers(500, body: "no")),
    ]

    static let stalling: [Fault] =
        [
            Fault(
                name: "stall before the request is read", steps: [.stall], outcome: .fails(.attemptTimeout),
                timeouts: Timeouts(attempt: .milliseconds(600)))
        ]
        + phases.map { stalls("stall \($0.name)", after: $0.text) }
        + phases.map { falls(silent: "silence \($0.name)", after: $0.text, status: $0.status) } + [
            uploads("silence in the upload", [.readHead, .stall], .fails(.idleTimeout)).limited(\.idle),
            uploads("stall in the upload", [.readHead, .stall], .fails(.attemptTimeout)).limited(\.attempt),
            uploads("silence after the upload", [.readRequest, .stall], .fails(.firstByteTimeout))
                .limited(\.firstByte),
            Fault(
                name: "silence before the request is read", steps: [.stall],
                outcome: .fails(.firstByteTimeout)
            ).limited(\.firstByte),
        ]

    /// The progress of a response, and its status if known.
    private static let phases: [(name: String, text: String, status: Int?)] = [
        ("before the head", "", nil), ("in the status line", "HTTP/1.1 2", nil),
        ("in the head", "HTTP/1.1 200 OK\r\nA: b\r\n", nil),
        ("after a 103", "HTTP/1.1 103 Early\r\nA: b\r\n\r\n", nil),
        ("before the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 200),
        ("in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 200),
        ("between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", 200),
        (
            "in the trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n",
            200
        ),
        ("in a body without length", "HTTP/1.1 200 OK\r\n\r\nabc", 200),
    ]

    static let malformedHeads: [Fault] = [
        sends("bytes that are no text", "\u{1}\u{2}\u{3}\u{7F}\r\n\r\n", .fails(.invalidResponse)),
        sends("HTTP/0.9", "<html>hello</html>\n", .fails(.invalidResponse)),
        sends("another protocol", "SSH-2.0-OpenSSH_9.2\r\n", .fails(.invalidResponse)),
        sends("a status line of ICY", "ICY 200 OK\r\n\r\n", .fails(.invalidResponse)),
        sends("an empty first line", "\r\nHTTP/1.1 200 OK\r\n\r\n", .fails(.invalidResponse)),
        sends("a status that is not a number", "HTTP/1.1 abc\r\n\r\n", .fails(.invalidResponse)),
        sends("no status", "HTTP/1.1\r\n\r\n", .fails(.invalidResponse)),
        sends("a negative status", "HTTP/1.1 -200 OK\r\n\r\n", .fails(.invalidResponse)),
        sends("a status of two digits", "HTTP/1.1 99 X\r\n\r\n", .fails(.invalidResponse)),
        sends("a status of four digits", "HTTP/1.1 1000 X\r\n\r\n", .fails(.invalidResponse)),
        sends(
            "a status beyond any integer", "HTTP/1.1 99999999999999999999 X\r\n\r\n",
            .fails(.invalidResponse)),
        sends("an unknown version", "HTTP/9.9 200 OK\r\n\r\n", .fails(.invalidResponse)),
        sends("an unasked 101", "HTTP/1.1 101 Switching\r\n\r\n", then: [.stall], .fails(.invalidResponse)),
        sends("a status without reason", "HTTP/1.1 299\r\n\r\nx", .answers(299, body: "x")),
        sends("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nold", .answers(body: "old")),
        sends("lines that end in LF", "HTTP/1.1 200 OK\nA: b\n\nx", .answers(body: "x", fields: [.a: "b"])),
        sends("a field without colon", fields: ["nonsense"], .fails(.invalidResponse)),
        // A CR is a space or makes the field invalid (RFC 9110 §5.5).
        sends(
            "a CR in a field", fields: ["A: b\rc"], body: "x",
            refusesCR ? .fails(.invalidResponse) : .answers(body: "x", fields: [.a: "b c"])),
        sends("NUL in a field", fields: ["A: b\0c"], .fails(.invalidResponse)),
        sends(
            "a folded field is one (RFC 9112 §5.2)", fields: ["A: b", " \t c", "B: d"], body: "x",
            .answers(
                body: "x",
                fields: [.a: "b c", .b: "d"])),
        sends(
            "100 and 103 before the answer",
            "HTTP/1.1 100 Continue\r\nA: 1\r\n\r\nHTTP/1.1 103 Early\r\nA: 2\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx",
            .answers(body: "x", fields: [.a: ""])),
        Fault(
            name: "103s without end",
            steps: [
                .readRequest, .sendRepeatedly(Array("HTTP/1.1 103 E\r\nA: b\r\n\r\n".utf8), times: .max),
            ],
            outcome: .fails(.invalidResponse)),
        Fault(
            name: "100s without end",
            steps: [.readRequest, .sendRepeatedly(Array("HTTP/1.1 100 C\r\n\r\n".utf8), times: .max)],
            outcome: .fails(.invalidResponse)),
    ]

    static let oversized: [Fault] = [
        sends(
            "200 KiB of fields", fields: Array(repeating: "A: " + text(1018), count: 200), body: "x",
            .answers(body: "x")),
        sends(
            "300 KiB of fields", fields: Array(repeating: "A: " + text(1018), count: 300), body: "x",
            .fails(.tooLarge)),
        sends("300 KiB in one field", fields: ["A: " + text(300 << 10)], .fails(.tooLarge)),
        sends("a status line of 300 KiB", "HTTP/1.1 200 " + text(300 << 10) + "\r\n\r\n", .fails(.tooLarge)),
        sends(
            "fields without end", "HTTP/1.1 200 OK\r\n",
            then: [.sendRepeatedly(Array("A: b\r\n".utf8), times: .max)], .fails(.tooLarge)),
        sends(
            "a field without end", "HTTP/1.1 200 OK\r\nA: ",
            then: [.sendRepeatedly(Array(text(4096).utf8), times: .max)], .fails(.tooLarge)),
        sends(
            "trailers without end", chunks: "1\r\nx\r\n0\r\n",
            then: [.sendRepeatedly(Array("A: b\r\n".utf8), times: .max)], .fails(.tooLarge, status: 200)),
    ]

    static let lengths: [Fault] = [
        sends(
            "the same length twice", fields: ["Content-Length: 2", "content-length: 2"], body: "ok",
            .answers(body: "ok")),
        sends(
            "two lengths (RFC 9112 §6.3)", fields: ["Content-Length: 2", "Content-Length: 4"], body: "okay",
            .fails(.invalidResponse)),
        sends("a negative length", fields: ["Content-Length: -2"], body: "ok", .fails(.invalidResponse)),
        sends(
            "a length beyond any integer", fields: ["Content-Length: 99999999999999999999"], body: "ok",
            .fails(.invalidResponse)),
        sends(
            "a list of the same length", fields: ["Content-Length: 2, 2"], body: "ok", .answers(body: "ok")),
        sends("a list of lengths", fields: ["Content-Length: 2, 3"], body: "ok", .fails(.invalidResponse)),
        sends(
            "a folded length", fields: ["Content-Length: 2", " 3"], body: "ok", .fails(.invalidResponse)),
        sends(
            "a length on a line of its own", fields: ["Content-Length:", " 2"], body: "ok",
            unfolds ? .answers(body: "ok") : .fails(.invalidResponse)),
        sends(
            "a folded transfer coding", fields: ["Transfer-Encoding:", "\tchunked"],
            body: "2\r\nok\r\n0\r\n\r\n", unfolds ? .answers(body: "ok") : .fails(.invalidResponse)),
        sends("no length", fields: ["Content-Length:"], body: "ok", .fails(.invalidResponse)),
        sends("a length that is text", fields: ["Content-Length: two"], body: "ok", .fails(.invalidResponse)),
        sends(
            "a length with a tail", fields: ["Content-Length: 2abc"], body: "ok", .fails(.invalidResponse)),
        sends(
            "chunks win over a length (RFC 9112 §6.3)",
            fields: ["Content-Length: 1", "Transfer-Encoding: chunked"],
            body: "2\r\nok\r\n0\r\n\r\n", .answers(body: "ok")),
        sends(
            "more than the length says, with an answer in it", fields: ["Content-Length: 2"],
            body: "okHTTP/1.1 200 Evil\r\nContent-Length: 4\r\n\r\nevil", .answers(body: "ok")),
        sends(
            "garbage behind the body of a connection that stays", fields: ["Content-Length: 2"],
            body: "ok\0\r\n\r\ngarbage", then: [.waitForClientClose], .answers(body: "ok")),
        sends("a 304 with a body", "HTTP/1.1 304 X\r\nContent-Length: 3\r\n\r\nabc", .answers(304)),
        sends("a 204 with a body", "HTTP/1.1 204 X\r\nContent-Length: 3\r\n\r\nabc", .answers(204)),
        sends("a HEAD with a body", fields: ["Content-Length: 3"], body: "abc", .answers()).with(.head),
    ]

    static let chunked: [Fault] = [
        sends(
            "a chunk size without a number", chunks: "xyz\r\nok\r\n", .fails(.invalidResponse, status: 200)),
        sends("a negative chunk size", chunks: "-2\r\nok\r\n", .fails(.invalidResponse, status: 200)),
        sends(
            "a chunk size beyond any integer", chunks: "FFFFFFFFFFFFFFFFFF\r\nok\r\n",
            .fails(.invalidResponse, status: 200)),
        sends(
            "a chunk longer than the body", chunks: "7FFFFFFFFFFFFFFF\r\nok",
            .fails(.partialBody, status: 200)),
        sends(
            "a chunk without its line end", chunks: "2\r\nokay\r\n0\r\n\r\n",
            .fails(.invalidResponse, status: 200)),
        sends("no chunk size", chunks: "\r\nok\r\n0\r\n\r\n", .fails(.invalidResponse, status: 200)),
        sends(
            "a chunk size in blanks", chunks: " 2\r\nok\r\n0\r\n\r\n", .fails(.invalidResponse, status: 200)),
        sends(
            "a chunk size without end", chunks: String(repeating: "0", count: 300 << 10),
            .fails(.invalidResponse, status: 200)),
        sends("chunk lines that end in LF", chunks: "2\nok\n0\n\n", .answers(body: "ok")),
        sends("chunk extensions", chunks: "2;a=b;c=\"d\"\r\nok\r\n0;e\r\n\r\n", .answers(body: "ok")),
        sends("trailers", chunks: "2\r\nok\r\n0\r\nA: b\r\n\r\n", .answers(body: "ok", fields: [.a: ""])),
        sends(
            "a trailer without colon", chunks: "2\r\nok\r\n0\r\nnonsense\r\n\r\n",
            .fails(.invalidResponse, status: 200)),
        sends("more after the last chunk", chunks: "2\r\nok\r\n0\r\n\r\ngarbage", .answers(body: "ok")),
        // A newer libcurl does not wait for the end of the head.
        sends(
            "an unknown transfer coding", fields: ["Transfer-Encoding: odd"], body: "ok",
            .fails(.invalidResponse, status: LibcurlFeatures.running.version < .init(8, 0) ? 200 : nil)),
    ]

    static let uploads: [Fault] = [
        uploads(
            "an early refusal that closes",
            [
                .readHead, .send("HTTP/1.1 413 X\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig"),
                .close,
            ],
            .answers(413, body: "big")),
        uploads(
            "an early refusal that keeps the connection",
            [.readHead, .respond(413, body: "big"), .waitForClientClose], .answers(413, body: "big")),
        uploads(
            "an early refusal that is not read on", [.readHead, .respond(413, body: "big"), .stall],
            .answers(413, body: "big")),
        uploads(
            "an early yes while the body is read", [.readHead, .respond(body: "yes"), .readBody],
            .answers(body: "yes")),
        uploads("reset in the upload", [.readHead, .reset], .fails(.connectionLost)),
        uploads("FIN in the upload without an answer", [.readHead, .close], .fails(.emptyReply)),
        uploads("FIN after the upload", [.readRequest, .close], .fails(.emptyReply)),
    ]

    /// The same with a body that is produced while it is sent, once, and with unknown length.
    static let streamed = uploads.map { fault in
        var fault = Fault(
            name: fault.name + ", streamed", steps: fault.steps, outcome: fault.outcome, method: .post)
        fault.body = .stream(
            .sequence(Array(repeating: [UInt8](repeating: 0x61, count: 64 << 10), count: 128)))
        return fault
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
}

extension HTTPField.Name {
    fileprivate static let a = HTTPField.Name("A")!
    fileprivate static let b = HTTPField.Name("B")!
}
