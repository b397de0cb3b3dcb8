import Foundation
import Testing

/// Docs/Wrappers.md lists what five former network layers do, each row with an existing test.
@Suite struct WrapperTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let there: String
        let here: String
        /// As `Target/Suite.test`.
        let tests: [String]

        var testDescription: String { there }

        init?(_ line: some StringProtocol) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, cells[1] != "There", !cells[1].hasPrefix("---") else { return nil }
            (there, here) = (cells[1], cells[2])
            tests = cells[3].matches(of: #/`([^`]+)`/#).map { String($0.1) }
        }
    }

    @Test(arguments: try rows())
    func theTestIsThere(_ row: Row) throws {
        #expect(!row.there.isEmpty && !row.here.isEmpty && !row.tests.isEmpty)
        for name in row.tests {
            let parts = name.split(whereSeparator: { "/.".contains($0) }).map(String.init)
            try #require(parts.count == 3, "\(name) is not Target/Suite.test")
            let file = try #require(try Self.files.get()["\(parts[0])/\(parts[1])"], "no file for \(name)")
            let tests = TestNames.all(in: try String(contentsOf: file, encoding: .utf8))
            #expect(
                tests.contains { $0.suite == parts[1] && $0.function == parts[2] },
                "there is no test \(name)")
        }
    }

    @Test func everyAppHasASection() throws {
        let sections = try Self.page().components(separatedBy: "\n## ").dropFirst()
        let files = try SourceFile.all(in: "Tests/SeedTests").map { URL(filePath: $0.path) }
        #expect(files.count == 5 && sections.count == files.count)
        for file in files {
            let suite = file.deletingPathExtension().lastPathComponent
            #expect(
                sections.contains { section in
                    section.contains("`\(file.lastPathComponent)`")
                        && section.contains("`SeedTests/\(suite).")
                }, "no section names \(file.lastPathComponent)")
        }
    }

    /// Each test of the apps proves a row.
    @Test func everyTestOfAnAppIsNamed() throws {
        let named = Set(try Self.rows().flatMap(\.tests))
        for file in try SourceFile.all(in: "Tests/SeedTests") {
            let tests = TestNames.all(in: file.lines.joined(separator: "\n"))
            #expect(!tests.isEmpty)
            for test in tests {
                let name = "SeedTests/\(test.suite).\(test.function)"
                #expect(named.contains(name), "no row names \(name)")
            }
        }
    }

    @Test func rowsAreRead() {
        let row = Row("| a task | a `Subscription` | `A/B.c`, `D/E.f` |")
        #expect(row?.there == "a task" && row?.here == "a `Subscription`")
        #expect(row?.tests == ["A/B.c", "D/E.f"])
        #expect(Row("| There | Here | Test |") == nil)
        #expect(Row("|---|---|---|") == nil)
    }

    @Test func testsAreRead() {
        let text = """
            @Suite(
                .serialized
            ) struct A {
                struct B { func b() {} }
                /// Not a @Test.
                func c() {}
                @Test(
                    arguments: [1])
                func d(_ number: Int) {}
            }
            extension E {
                @Test func f() {}
            }
            """
        #expect(TestNames.all(in: text).map { "\($0.suite).\($0.function)" } == ["A.d", "E.f"])
    }

    private static func page() throws -> String {
        try String(contentsOf: SourceFile.root.appending(path: "Docs/Wrappers.md"), encoding: .utf8)
    }

    static func rows() throws -> [Row] { try page().split(separator: "\n").compactMap { Row($0) } }

    /// The files of the tests, as `Target/Suite`: each suite that the page names has a file of its name.
    private static let files = Result {
        let folder = SourceFile.root.appending(path: "Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Dictionary(
            paths.filter { $0.hasSuffix("Tests.swift") }.map { path in
                let file = folder.appending(path: path)
                let suite = file.deletingPathExtension().lastPathComponent
                return ("\(path.prefix { $0 != "/" })/\(suite)", file)
            }, uniquingKeysWith: { one, _ in one })
    }
}
