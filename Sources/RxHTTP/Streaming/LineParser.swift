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
