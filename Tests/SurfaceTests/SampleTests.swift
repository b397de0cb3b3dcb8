import Foundation
import Testing

/// The Swift code in README, the documentation and the doc comments is also in `Samples/`, and so compiles.
@Suite struct SampleTests {
    @Test(arguments: try documents() + commentedFiles())
    func everySampleIsCompiled(_ document: String) throws {
        let compiled = try Self.sources.get()
        for block in try Self.samples(in: document) {
            let sample = Self.tokens(block)
            #expect(
                compiled.contains { $0.contains(sample) },
                "not in Tests/SurfaceTests/Samples:\n\(block.joined(separator: "\n"))")
        }
    }

    @Test func thereAreSamples() throws {
        #expect(try Self.samples(in: "README.md").count >= 5)
        #expect(
            try Self.samples(in: "Sources/RxNetworking/RxNetworking.docc/Essentials/GettingStarted.md").count
                >= 10)
        #expect(try Self.commentedFiles().count >= 80)
        #expect(try Self.samples(in: "Sources/RxHTTP/Headers/Headers.swift").count == 1)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    static func documents() throws -> [String] {
        let docs = try pages(in: "Docs")
        let articles = try pages(in: "Sources").filter { $0.contains(".docc/") }
        return ["README.md"] + docs + articles
    }

    /// The sources with Swift code in their doc comments.
    static func commentedFiles() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "Sources").path)
            .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().map { "Sources/\($0)" }
            .filter { try !blocks(in: $0).isEmpty }
    }

    private static func pages(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }

    /// The samples of a document: its fenced Swift blocks except the ``listing(in:)``.
    static func samples(in document: String) throws -> [[String]] {
        var blocks = try blocks(in: document)
        if let listing = try listing(in: document), let index = blocks.firstIndex(of: listing) {
            blocks.remove(at: index)
        }
        return blocks
    }

    /// The signatures at the start of a page, before its first heading, as lines; `nil` if it starts with none. A page may
    /// show the lines that most readers want before them.
    static func listing(in document: String) throws -> [String]? {
        try blocks(in: document, untilHeading: true).first { SignatureTests.isListing($0) }
    }

    /// The fenced Swift blocks of a document, or of the doc comments of a source.
    ///
    /// - Parameter untilHeading: whether only those before the first heading below the title are returned. Default false.
    static func blocks(in document: String, untilHeading: Bool = false) throws -> [[String]] {
        var lines = try String(contentsOf: root.appending(path: document), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        if document.hasSuffix(".swift") {
            lines = lines.map { line in
                let comment = line.drop { $0 == " " }
                return comment.hasPrefix("///") ? comment.dropFirst(3).drop { $0 == " " } : ""
            }
        }
        var blocks: [[String]] = []
        var block: [Substring]?
        for line in lines {
            if line.hasPrefix("```swift") {
                block = []
            } else if line.hasPrefix("```"), let code = block {
                blocks.append(code.map(String.init))
                block = nil
            } else if untilHeading, block == nil, line.hasPrefix("## ") {
                break
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    /// The code of the files in `Samples/`.
    static let sources = Result { () throws -> [String] in
        let folder = root.appending(path: "Tests/SurfaceTests/Samples")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.map {
                let text = try String(contentsOf: folder.appending(path: $0), encoding: .utf8)
                return tokens(text.split(separator: "\n").map(String.init))
            }
    }

    /// The words and signs of the lines, without layout, imports, and conditions of traits, each between two marks.
    static func tokens(_ lines: [String]) -> String {
        let mark = "\u{1}"
        let code = lines.filter { line in
            let line = line.drop { $0 == " " }
            return !line.hasPrefix("import ") && !line.hasPrefix("#if ") && line != "#endif"
        }
        let tokens = code.joined(separator: "\n").matches(of: #/\w+|[^\s\w]/#).map(\.output)
        return mark + tokens.joined(separator: mark) + mark
    }

    @Test(
        arguments: [
            ("f(a)", "f( a )", true), ("f(a)", "g(f(a))", true), ("f(a)", "ff(a)", false),
            ("f(a)\ng(b)", "f(a); g(b)", false), ("f(a)\ng(b)", "f(a)\n\n    g(\n    b)", true),
        ])
    func layoutDoesNotCount(sample: String, code: String, isFound: Bool) {
        #expect(Self.tokens([code]).contains(Self.tokens([sample])) == isFound)
    }
}
