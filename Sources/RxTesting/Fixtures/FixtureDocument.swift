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

    var root: FixtureNode { FixtureNode(document: self, place: JSONTape.root) }

    /// The line and the column of a byte, from 1.
    static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (lines + 1, offset - start + 1)
    }
}
