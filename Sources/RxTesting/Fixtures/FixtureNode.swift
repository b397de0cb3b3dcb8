import RxJSON

/// A value in a document, which knows its place when it is not usable.
struct FixtureNode: Sendable {
    let document: FixtureDocument
    let place: Int

    var isNull: Bool { document.tape.kind(at: place) == .null }

    func text() throws(FixtureError) -> String {
        guard let text = document.tape.text(at: place, in: document.bytes) else {
            throw error(.notA("a string"))
        }
        return text
    }

    func number() throws(FixtureError) -> Double {
        let literal = document.bytes[document.tape.literal(of: place)]
        guard document.tape.kind(at: place).isNumber,
            let number = Double(String(decoding: literal, as: UTF8.self)), number.isFinite
        else { throw error(.notA("a number")) }
        return number
    }

    func integer(in range: ClosedRange<Int64>) throws(FixtureError) -> Int64 {
        guard let integer = Int64(exactly: try number()) else { throw error(.notA("a whole number")) }
        guard range.contains(integer) else {
            throw error(.invalid("\(integer) is not between \(range.lowerBound) and \(range.upperBound)"))
        }
        return integer
    }

    /// A number of milliseconds, at most ten years.
    func duration() throws(FixtureError) -> Duration {
        let milliseconds = try number()
        guard (0...315_360_000_000).contains(milliseconds) else {
            throw error(.invalid("\(milliseconds) is not a time in milliseconds"))
        }
        return .nanoseconds(Int64((milliseconds * 1_000_000).rounded()))
    }

    func elements() throws(FixtureError) -> [FixtureNode] {
        guard document.tape.kind(at: place) == .array else { throw error(.notA("an array")) }
        return document.tape.elements(of: place).map { FixtureNode(document: document, place: $0) }
    }

    func object() throws(FixtureError) -> FixtureObject {
        guard document.tape.kind(at: place).isObject else { throw error(.notA("an object")) }
        var members: [String: Int] = [:]
        for member in document.tape.members(of: place) {
            guard let name = document.tape.text(at: member.key, in: document.bytes) else {
                throw FixtureNode(document: document, place: member.value).error(
                    .invalid("the name of the member is not valid text"))
            }
            if members[name] == nil { members[name] = member.value }
        }
        return FixtureObject(node: self, members: members)
    }

    /// An error about this value, or about a member that it lacks.
    func error(_ problem: FixtureError.Problem, member: String? = nil) -> FixtureError {
        let offset = document.tape.literal(of: place).lowerBound
        let (line, column) = FixtureDocument.position(of: offset, in: document.bytes)
        let path = [self.path, member ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return FixtureError(problem, file: document.file, path: path, line: line, column: column)
    }

    /// The names and indices that lead here, found from the root, since only errors need them.
    private var path: String {
        let tape = document.tape
        let offset = tape.literal(of: place).lowerBound
        var (path, current) = ("", JSONTape.root)
        while current != place {
            if let member = tape.members(of: current).first(where: {
                tape.literal(of: $0.value).contains(offset)
            }) {
                let name = tape.text(at: member.key, in: document.bytes) ?? "?"
                path += path.isEmpty ? name : ".\(name)"
                current = member.value
            } else if let index = tape.elements(of: current).firstIndex(where: {
                tape.literal(of: $0).contains(offset)
            }) {
                path += "[\(index)]"
                current = tape.elements(of: current)[index]
            } else {
                break
            }
        }
        return path
    }
}
