public import FoundationEssentials
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body line by line, as UTF-8 text without the line ends (LF or CR LF); invalid bytes become U+FFFD.
    ///
    /// Text after the last line end is also a line once the body is complete; if the body breaks off, it is
    /// not sent. While the subscriber is paused, lines wait and nothing is read from the network.
    ///
    /// ```swift
    /// client.stream(.get("/log")).lines().subscribe(onNext: { line in print(line) })
    /// ```
    ///
    /// - Parameter limit: the most bytes of one line. A longer one fails with `tooLarge` and stops the transfer; the
    ///   lines before it have been sent. Default 1 MiB.
    public func lines(limit: Int = 1 << 20) -> Observable<String, NetworkError> {
        parsed { LineParser(limit: limit) }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}

/// Splits a body into lines that end in LF or CR LF.
struct LineParser: BodyParser {
    /// A line without its line end.
    struct Line: Sendable, Equatable {
        /// The line number, from 1.
        var number: Int
        var bytes: [UInt8]
    }

    private let limit: Int
    private var pending: [UInt8] = []
    private var count = 0

    /// - Parameter limit: the most bytes of one line, without its line end.
    init(limit: Int) { self.limit = max(0, limit) }

    mutating func read(_ chunk: [UInt8], into lines: inout [Line]) throws(NetworkError) {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            pending += rest[..<end]
            rest = rest[(end + 1)...]
            if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
            lines.append(try takeLine())
        }
        pending += rest
        // A CR may be the first half of the line end.
        guard pending.count <= limit || (pending.count == limit + 1 && pending.last == UInt8(ascii: "\r"))
        else {
            throw overlong()
        }
    }

    /// Text after the last line end is a line, unless it is empty.
    mutating func finish(into lines: inout [Line]) throws(NetworkError) {
        if !pending.isEmpty { lines.append(try takeLine()) }
    }

    var remainder: [UInt8]? { pending }

    private mutating func takeLine() throws(NetworkError) -> Line {
        guard pending.count <= limit else { throw overlong() }
        count += 1
        defer { pending = [] }
        return Line(number: count, bytes: pending)
    }

    private func overlong() -> NetworkError {
        NetworkError(.tooLarge, "line \(count + 1) of the body is longer than \(limit) bytes")
    }
}

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The body as JSON values, one per line (JSON Lines, NDJSON). Blank lines are skipped.
    ///
    /// A line that cannot be decoded fails with `decoding`: the message contains the line number and the
    /// coding path, and the body of the error is the line. The values before it have been sent. Lines above
    /// 256 KiB are decoded off the stream's scheduler.
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl")).jsonLines(Goods.self)
    ///     .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of each line.
    ///   - limit: the most bytes of one line; see ``lines(limit:)``. Default 1 MiB.
    ///   - decoder: the decoder of the lines. Default `nil`: the decoder of the client that made this stream,
    ///     otherwise a `JSONDecoder()`.
    public func jsonLines<T: Decodable & Sendable>(
        _ type: T.Type = T.self, limit: Int = 1 << 20, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        // Another thread would leave virtual time.
        let isVirtual = scheduler is any DatedScheduler
        return parsed { JSONLineParser(limit: limit, decoder: decoder) }
            .flatMap(.concat) { line throws(NetworkError) in
                // The size of the documentation; bodies have the same (`Response.inPlaceLimit` of RxClient).
                guard line.bytes.count > 256 << 10, !isVirtual else { return .just(try line.decode(T.self)) }
                return Observable<JSONLineParser.Line, NetworkError>.just(line)
                    .observe(on: ActorScheduler.background())
                    .map { line throws(NetworkError) in try line.decode(T.self) }
            }
    }
}

/// Finds the lines that are not blank, and their decoder.
private struct JSONLineParser: BodyParser {
    struct Line: Sendable {
        let number: Int
        let bytes: [UInt8]
        let decoder: JSONDecoder
    }

    private var lines: LineParser
    private var decoder: JSONDecoder?

    init(limit: Int, decoder: JSONDecoder?) {
        lines = LineParser(limit: limit)
        self.decoder = decoder
    }

    var remainder: [UInt8]? { lines.remainder }

    mutating func begin(_ head: ResponseHead) { decoder = decoder ?? head.decoder }

    mutating func read(_ chunk: [UInt8], into found: inout [Line]) throws(NetworkError) {
        try add(to: &found) { lines, new throws(NetworkError) in try lines.read(chunk, into: &new) }
    }

    mutating func finish(into found: inout [Line]) throws(NetworkError) {
        try add(to: &found) { lines, new throws(NetworkError) in try lines.finish(into: &new) }
    }

    /// Adds the lines read so far even if `read` fails after them.
    private mutating func add(
        to found: inout [Line],
        _ read: (inout LineParser, inout [LineParser.Line]) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        var new: [LineParser.Line] = []
        let decoder = decoder ?? JSONDecoder()
        defer {
            found += new.lazy
                .filter { line in !line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
                .map { Line(number: $0.number, bytes: $0.bytes, decoder: decoder) }
        }
        try read(&lines, &new)
    }
}

extension JSONLineParser.Line {
    fileprivate func decode<T: Decodable>(_: T.Type) throws(NetworkError) -> T {
        try decoder.decode(T.self, named: "line \(number)", bytes)
    }
}
