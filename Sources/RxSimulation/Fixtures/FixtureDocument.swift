import FoundationEssentials
import RxJSON

/// A JSON document that a test reads: a cassette, or the description of an interface.
struct FixtureDocument: Sendable {
    let bytes: [UInt8]
    let tape: JSONTape
    let file: String?

    init(_ bytes: [UInt8], file: String?) throws(FixtureError) {
        guard bytes.count <= JSONTape.sizeLimit else {
            throw FixtureError(.tooLarge(bytes: bytes.count, limit: JSONTape.sizeLimit), file: file)
        }
        do throws(JSONFlaw) {
            tape = try JSONPart(wholeOf: bytes).tape
        } catch {
            let (line, column) = Self.position(of: error.offset, in: bytes)
            throw FixtureError(.notJSON, file: file, line: line, column: column)
        }
        self.bytes = bytes
        self.file = file
    }

    /// The content of a file.
    ///
    /// - Parameter limit: the maximum size in bytes; a larger file is not read.
    static func bytes(of path: String, limit: Int) throws(FixtureError) -> [UInt8] {
        // About 256 MiB, which ``Cassette/init(contentsOf:limit:)`` names.
        let limit = min(limit, JSONTape.sizeLimit)
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            guard size <= limit else { throw FixtureError(.tooLarge(bytes: size, limit: limit), file: path) }
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(.unreadable("\(error)"), file: path)
        }
    }

    var root: FixtureNode { FixtureNode(document: self, index: JSONTape.root) }

    /// The line and the column of a byte, from 1.
    static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (lines + 1, offset - start + 1)
    }
}

/// A value in a document, which knows where it is when it is not usable.
struct FixtureNode: Sendable {
    let document: FixtureDocument
    /// The index of the value on the tape.
    let index: Int

    var isNull: Bool { document.tape.kind(at: index) == .null }

    func text() throws(FixtureError) -> String {
        guard let text = document.tape.text(at: index, in: document.bytes) else {
            throw error(.notA("a string"))
        }
        return text
    }

    func number() throws(FixtureError) -> Double {
        let literal = document.bytes[document.tape.literal(of: index)]
        guard document.tape.kind(at: index).isNumber,
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
        guard document.tape.kind(at: index) == .array else { throw error(.notA("an array")) }
        return document.tape.elements(of: index).map { FixtureNode(document: document, index: $0) }
    }

    func object() throws(FixtureError) -> FixtureObject {
        guard document.tape.kind(at: index).isObject else { throw error(.notA("an object")) }
        var members: [String: Int] = [:]
        for member in document.tape.members(of: index) {
            guard let name = document.tape.text(at: member.key, in: document.bytes) else {
                throw FixtureNode(document: document, index: member.value).error(
                    .invalid("the name of the member is not valid text"))
            }
            if members[name] == nil { members[name] = member.value }
        }
        return FixtureObject(node: self, members: members)
    }

    /// An error about this value, or about a member that it lacks.
    func error(_ problem: FixtureError.Problem, member: String? = nil) -> FixtureError {
        let offset = document.tape.literal(of: index).lowerBound
        let (line, column) = FixtureDocument.position(of: offset, in: document.bytes)
        let path = [self.path, member ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return FixtureError(problem, file: document.file, path: path, line: line, column: column)
    }

    /// The names and indices that lead here, found from the root, since only errors need them.
    private var path: String {
        let tape = document.tape
        let offset = tape.literal(of: index).lowerBound
        var (path, current) = ("", JSONTape.root)
        while current != index {
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

/// An object in a document. A member that is `null` counts as absent.
struct FixtureObject: Sendable {
    let node: FixtureNode
    let members: [String: Int]

    subscript(name: String) -> FixtureNode? {
        guard let index = members[name] else { return nil }
        let member = FixtureNode(document: node.document, index: index)
        return member.isNull ? nil : member
    }

    func required(_ name: String) throws(FixtureError) -> FixtureNode {
        guard let member = self[name] else { throw node.error(.missing, member: name) }
        return member
    }
}

/// The reason why a file of a test, such as a cassette, cannot be read, written or recorded, with the position in the
/// file.
///
/// ```
/// login.har:14:9: log.entries[3].request.url is missing
/// ```
public struct FixtureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of problems.
    package enum Problem: Sendable, Equatable {
        /// The file cannot be read; the text says why.
        case unreadable(String)
        /// The file cannot be written; the text says why.
        case unwritable(String)
        /// The file has more bytes than the limit allows.
        case tooLarge(bytes: Int, limit: Int)
        /// The text is not JSON, or is cut off.
        case notJSON
        /// The file has a version of the format that cannot be read.
        case unsupportedVersion(String)
        /// A member is missing.
        case missing
        /// A value is of another kind; the text names the kind that is needed.
        case notA(String)
        /// A value that cannot be used; the text says why.
        case invalid(String)
        /// A response has no example that could be its content.
        case noExample
        /// A recording was asked for on a server of continuous integration.
        case recordingInCI
    }

    /// The problem.
    package let problem: Problem
    /// The file, if there is one.
    public let file: String?
    /// The path of the value in the document, such as `log.entries[3].request.url`; empty for the whole document.
    public let path: String
    /// The line, from 1; `nil` if the problem has no position in the text.
    public let line: Int?
    /// The column in bytes, from 1; `nil` without a line.
    public let column: Int?

    package init(
        _ problem: Problem, file: String? = nil, path: String = "", line: Int? = nil, column: Int? = nil
    ) {
        self.problem = problem
        self.file = file
        self.path = path
        self.line = line
        self.column = column
    }

    /// The file, the line and column, the path in the document, and the problem.
    public var description: String {
        let position = [file, line.map(String.init), column.map(String.init)].compactMap(\.self)
        let prefix = position.isEmpty ? "" : position.joined(separator: ":") + ": "
        let value = path.isEmpty ? "the document" : path
        return switch problem {
        case .unreadable(let reason): "\(prefix)the file cannot be read: \(reason)"
        case .unwritable(let reason): "\(prefix)the file cannot be written: \(reason)"
        case .tooLarge(let bytes, let limit): "\(prefix)the file has \(bytes) bytes; the limit is \(limit)"
        case .notJSON: "\(prefix)here the text ends too early or is not JSON"
        case .unsupportedVersion(let version): "\(prefix)\(value) is \(version), which cannot be read"
        case .missing: "\(prefix)\(value) is missing"
        case .notA(let kind): "\(prefix)\(value) is not \(kind)"
        case .invalid(let reason): "\(prefix)\(value): \(reason)"
        case .noExample: "\(prefix)\(value) has no example"
        case .recordingInCI: "\(prefix)a cassette is not recorded where CI is set; record it on your machine"
        }
    }
}
