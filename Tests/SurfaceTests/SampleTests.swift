import Foundation
import Testing

/// The Swift code in README and the documentation is also in `Samples/`, and so compiles.
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
        #expect(
            try Self.samples(in: "Sources/RxNetworking/RxNetworking.docc/Essentials/GettingStarted.md").count
                >= 10)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    static func documents() throws -> [String] {
        let docs = try pages(in: "Docs")
        let articles = try pages(in: "Sources").filter { $0.contains(".docc/") }
        return ["README.md"] + docs + articles
    }

    private static func pages(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }

    /// The samples of a document: its fenced Swift blocks except the ``listing(in:)``.
    static func samples(in document: String) throws -> [[String]] {
        let blocks = try blocks(in: document)
        let samples = try listing(in: document) == nil ? blocks[...] : blocks.dropFirst()
        return samples.map { normalized($0.map { $0[...] }) }
    }

    /// The signatures at the start of a page, as lines; `nil` if it starts with none.
    static func listing(in document: String) throws -> [String]? {
        try blocks(in: document).first.flatMap { SignatureTests.isListing($0) ? $0 : nil }
    }

    /// The fenced Swift blocks of a document.
    static func blocks(in document: String) throws -> [[String]] {
        let lines = try String(contentsOf: root.appending(path: document), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var blocks: [[String]] = []
        var block: [Substring]?
        for line in lines {
            if line.hasPrefix("```swift") {
                block = []
            } else if line.hasPrefix("```"), let code = block {
                blocks.append(code.map(String.init))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    static func sources() throws -> [[String]] {
        let folder = root.appending(path: "Tests/SurfaceTests/Samples")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.map {
                normalized(
                    try String(contentsOf: folder.appending(path: $0), encoding: .utf8).split(separator: "\n")
                )
            }
    }

    /// Lines without layout: indentation, blank lines, imports, conditions of traits, the gap before a comment.
    static func normalized(_ lines: [Substring]) -> [String] {
        lines.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix("#if ") && $0 != "#endif" }
    }
}

extension [String] {
    /// Whether `lines` occur here, one after the other.
    fileprivate func containsRun(_ lines: [String]) -> Bool {
        guard lines.count <= count else { return lines.isEmpty }
        return (0...(count - lines.count)).contains { self[$0..<($0 + lines.count)].elementsEqual(lines) }
    }
}
