import RxJSON

/// The JSON document of a cassette.
struct CassetteDocument: Sendable {
    let bytes: [UInt8]
    let tape: JSONTape
    let file: String?

    init(_ bytes: [UInt8], file: String?) throws(CassetteError) {
        do throws(JSONFlaw) {
            tape = try JSONPart(wholeOf: bytes).tape
        } catch {
            let (line, column) = Self.position(of: error.offset, in: bytes)
            throw CassetteError(.notJSON, file: file, line: line, column: column)
        }
        self.bytes = bytes
        self.file = file
    }

    var root: CassetteNode { CassetteNode(document: self, place: JSONTape.root) }

    /// The line and the column of a byte, from 1.
    static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (lines + 1, offset - start + 1)
    }
}

/// A value in the document of a cassette, which knows its place when it is not usable.
struct CassetteNode: Sendable {
    let document: CassetteDocument
    let place: Int

    var isNull: Bool { document.tape.kind(at: place) == .null }

    func text() throws(CassetteError) -> String {
        guard let text = document.tape.text(at: place, in: document.bytes) else {
            throw error(.notA("a string"))
        }
        return text
    }

    func number() throws(CassetteError) -> Double {
        let literal = document.bytes[document.tape.literal(of: place)]
        guard document.tape.kind(at: place).isNumber,
            let number = Double(String(decoding: literal, as: UTF8.self)), number.isFinite
        else { throw error(.notA("a number")) }
        return number
    }

    func integer(in range: ClosedRange<Int64>) throws(CassetteError) -> Int64 {
        guard let integer = Int64(exactly: try number()) else { throw error(.notA("a whole number")) }
        guard range.contains(integer) else {
            throw error(.invalid("\(integer) is not between \(range.lowerBound) and \(range.upperBound)"))
        }
        return integer
    }

    /// A number of milliseconds, at most ten years.
    func duration() throws(CassetteError) -> Duration {
        let milliseconds = try number()
        guard (0...315_360_000_000).contains(milliseconds) else {
            throw error(.invalid("\(milliseconds) is not a time in milliseconds"))
        }
        return .nanoseconds(Int64((milliseconds * 1_000_000).rounded()))
    }

    func boolean() throws(CassetteError) -> Bool {
        switch document.tape.kind(at: place) {
        case .true: true
        case .false: false
        default: throw error(.notA("true or false"))
        }
    }

    func elements() throws(CassetteError) -> [CassetteNode] {
        guard document.tape.kind(at: place) == .array else { throw error(.notA("an array")) }
        return document.tape.elements(of: place).map { CassetteNode(document: document, place: $0) }
    }

    func object() throws(CassetteError) -> CassetteObject {
        guard document.tape.kind(at: place).isObject else { throw error(.notA("an object")) }
        var members: [String: Int] = [:]
        for member in document.tape.members(of: place) {
            guard let name = document.tape.text(at: member.key, in: document.bytes) else {
                throw CassetteNode(document: document, place: member.value).error(
                    .invalid("the name of the member is not valid text"))
            }
            if members[name] == nil { members[name] = member.value }
        }
        return CassetteObject(node: self, members: members)
    }

    /// An error about this value, or about a member that it lacks.
    func error(_ problem: CassetteError.Problem, member: String? = nil) -> CassetteError {
        let offset = document.tape.literal(of: place).lowerBound
        let (line, column) = CassetteDocument.position(of: offset, in: document.bytes)
        let path = [self.path, member ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return CassetteError(problem, file: document.file, path: path, line: line, column: column)
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

/// An object in the document of a cassette. A member that is `null` counts as absent.
struct CassetteObject: Sendable {
    let node: CassetteNode
    let members: [String: Int]

    subscript(name: String) -> CassetteNode? {
        guard let place = members[name] else { return nil }
        let member = CassetteNode(document: node.document, place: place)
        return member.isNull ? nil : member
    }

    func required(_ name: String) throws(CassetteError) -> CassetteNode {
        guard let member = self[name] else { throw node.error(.missing, member: name) }
        return member
    }
}
