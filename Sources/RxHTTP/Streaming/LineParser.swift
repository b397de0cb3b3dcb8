/// Cuts a body into lines that end in LF or CR LF.
struct LineParser: BodyParser {
    /// A line without its end.
    struct Line: Sendable, Equatable {
        /// From 1.
        var number: Int
        var bytes: [UInt8]
    }

    private let limit: Int
    private var pending: [UInt8] = []
    private var count = 0

    /// - Parameter limit: the most bytes of one line, its end not included.
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
        // A CR may be the first half of the line's end.
        guard pending.count <= limit || (pending.count == limit + 1 && pending.last == UInt8(ascii: "\r"))
        else {
            throw overlong()
        }
    }

    /// What stands after the last line end is a line, if it is not empty.
    mutating func finish(into lines: inout [Line]) throws(NetworkError) {
        if !pending.isEmpty { lines.append(try takeLine()) }
    }

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
