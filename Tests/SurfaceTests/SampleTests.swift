import Foundation
import Testing

/// The Swift code in README and Docs stands in `Samples/` too, and so compiles.
@Suite struct SampleTests {
    @Test(arguments: try documents())
    func everySampleIsCompiled(_ document: String) throws {
        let compiled = try Self.sources()
        for block in try Self.samples(in: document) {
            #expect(
                compiled.contains { $0.containsRun(block) },
                "not in Tests/SurfaceTests/Samples:\n\(block.joined(separator: "\n"))")
        }
    }

    @Test func thereAreSamples() throws {
        #expect(try Self.samples(in: "README.md").count >= 5)
        #expect(try Self.samples(in: "Docs/GettingStarted.md").count >= 10)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    static func documents() throws -> [String] {
        let docs = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "Docs").path)
        return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
    }

    /// The fenced Swift blocks of a document.
    static func samples(in document: String) throws -> [[String]] {
        let lines = try String(contentsOf: root.appending(path: document), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var blocks: [[String]] = []
        var block: [Substring]?
        for line in lines {
            if line.hasPrefix("```swift") {
                block = []
            } else if line.hasPrefix("```"), let code = block {
                blocks.append(normalized(code))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    static func sources() throws -> [[String]] {
        let folder = root.appending(path: "Tests/SurfaceTests/Samples")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map {
            normalized(try String(contentsOf: $0, encoding: .utf8).split(separator: "\n"))
        }
    }

    /// Lines without what layout may change: indentation, blank lines, imports, the gap before a comment.
    static func normalized(_ lines: [Substring]) -> [String] {
        lines.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }
}

extension [String] {
    /// Whether `lines` stand in here, one after the other.
    fileprivate func containsRun(_ lines: [String]) -> Bool {
        guard lines.count <= count else { return lines.isEmpty }
        return (0...(count - lines.count)).contains { self[$0..<($0 + lines.count)].elementsEqual(lines) }
    }
}
