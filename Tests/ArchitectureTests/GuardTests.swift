import Foundation
import Testing

/// What the compiler no longer checks has a comment that names what does.
@Suite struct GuardTests {
    static let unchecked = [
        "@unchecked Sendable", "try!", "fatalError(", "nonisolated(unsafe)", "preconditionFailure(",
    ]

    /// How many lines before and after a mark may hold its comment.
    static let reach = 4

    /// The marks of a file without a comment near them, as `line: mark`.
    static func unguarded(in file: SourceFile) -> [String] {
        file.code.enumerated().flatMap { index, line in
            unchecked.filter { line.contains($0) }.compactMap { mark in
                let near = file.lines[max(0, index - reach)...min(file.lines.count - 1, index + reach)]
                // Doc comments tell users what it is for; the guard is for who changes it.
                let isGuarded = near.contains { line in
                    line.range(of: "// ").map { !line[..<$0.lowerBound].hasSuffix("/") } ?? false
                }
                return isGuarded ? nil : "\(index + 1): \(mark)"
            }
        }
    }

    @Test func everyUncheckedLineNamesItsGuard() throws {
        for file in try SourceFile.all(in: "Sources") {
            for place in Self.unguarded(in: file) {
                Issue.record(
                    "\(file.path):\(place) has no comment that names its guard within \(Self.reach) lines")
            }
        }
    }

    @Test func filesAreShort() throws {
        let files = try SourceFile.all(in: "Sources")
        #expect(!files.isEmpty)
        for file in files where file.lines.count > 301 {
            Issue.record("\(file.path) has \(file.lines.count - 1) lines; 300 are the most")
        }
    }

    @Test(
        arguments: [
            ("final class A: @unchecked Sendable {\n    // Guard: the lane.\n}", 0),
            ("final class A: @unchecked Sendable {\n    /// For users.\n}", 1), ("let a = try! b()", 1),
            ("// It cannot throw: b never does.\nlet a = try! b()", 0), ("// try! a()", 0),
            ("fatalError(\"no\")\n\n\n\n\n// Too far away.", 1), ("print(\"try! this\")", 0),
            ("nonisolated(unsafe) var a = 1 // Guard: the main actor.", 0),
        ])
    func marksAreFound(text: String, count: Int) {
        #expect(Self.unguarded(in: SourceFile(path: "Sources/X/Y.swift", text: text)).count == count)
    }
}
