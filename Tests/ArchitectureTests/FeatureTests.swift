import Foundation
import Testing

/// Docs/Features.md lists every feature with its page, Docs/FeatureTests.md has its API and its tests; all of these exist.
@Suite struct FeatureTests {
    /// The required features of the framework.
    static let ids = [
        "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9",
        "P1", "P2", "P3", "P4", "P5", "P6", "P7",
        "H1", "H2", "H3", "H4", "H5",
        "S1", "S2", "S3", "S4",
        "G1", "G2", "G3", "G4", "G5",
        "C1", "C2", "Q1", "Q2", "Q3",
        "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11", "T12",
        "K1", "K2", "K3", "K4",
        "B1", "B2", "B3", "B4", "B5",
        "X1", "X2", "X3", "X4", "X5",
        "F1", "F2", "F3", "F4", "F5",
        "N1", "N2", "N3", "N4", "N5", "N6", "N7", "U1", "M1", "M2", "M3", "M4", "M5", "M6", "M7",
        "A1", "A2", "A3", "A4",
        "V1", "V2", "V3", "O1", "O2", "O3",
    ]

    /// The targets whose tests talk to servers over sockets.
    private static let socketTests = [
        "RxNetworkingTests", "RxCurlTests", "ConformanceDriverTests", "ServiceTests", "RxMetricsTests",
        "RxTracingTests", "RxServicesTests", "RxInspectorTests",
        "RxOutboxTests", "RxFleetTests", "RxTransfersTests",
    ]

    @Test func everyFeatureHasOneRow() throws {
        #expect(try Self.rows.get().map(\.id) == Self.ids)
    }

    @Test(arguments: ids)
    func whatTheRowNamesIsThere(_ id: String) throws {
        let row = try #require(try Self.rows.get().first { $0.id == id })
        #expect(!row.symbols.isEmpty)
        let types = try Self.members.get()
        for symbol in row.symbols {
            let parts = symbol.prefix { $0 != "(" }.split(separator: ".").map(String.init)
            let type = try #require(parts.first)
            let members = try #require(types[type], "\(id): there is no \(type) in Sources")
            guard parts.count > 1 else { continue }
            #expect(members.contains(parts[1]), "\(id): \(type) has no \(parts[1])")
        }

        // Operators of streams, tools for tests, and signatures, which have published vectors, do not need sockets.
        if !id.hasPrefix("O"), !id.hasPrefix("V"), !id.hasPrefix("A") {
            #expect(
                row.tests.contains { test in Self.socketTests.contains { test.path.contains("/\($0)/") } })
        }
        for test in row.tests {
            let file = SourceFile.root.appending(path: "Docs").appending(path: test.path).standardized
            let text = try String(contentsOf: file, encoding: .utf8)
            let functions = TestNames.all(in: text).map(\.function)
            #expect(!functions.isEmpty)
            for name in test.functions {
                #expect(functions.contains(name), "\(id): \(test.path) has no test \(name)")
            }
        }

        #expect(!row.pages.isEmpty)
        for page in row.pages {
            let parts = page.split(separator: "#", maxSplits: 1)
            let file = SourceFile.root.appending(path: "Docs/\(parts[0])")
            let text = try String(contentsOf: file, encoding: .utf8)
            guard parts.count == 2 else { continue }
            #expect(Self.anchors(in: text).contains(String(parts[1])), "\(id): there is no \(page)")
        }
    }

    @Test func rowsAreShort() throws {
        for line in try Self.lines(of: "Features").get() where line.hasPrefix("|") {
            #expect(line.count <= 160, "\(line)")
        }
    }

    @Test func rowsAreRead() {
        let sections = Self.sections(in: [
            "## Group", "", "### A1", "", "What `it` does.", "", "`T`,", "`T.m(a:)`", "",
            "- [X](../Tests/R/X.swift): `a`,", "  `b`", "- [Y](../Tests/S/Y.swift)", "", "### A2", "",
        ])
        let pages = ["P": "P.md#q", "R": "R.md"]
        let row = Row("| [A1](FeatureTests.md#a1) | What | [P], [Other text][R] |", sections, pages)
        #expect(row?.id == "A1")
        #expect(row?.symbols == ["T", "T.m(a:)"])
        #expect(row?.tests.map(\.path) == ["../Tests/R/X.swift", "../Tests/S/Y.swift"])
        #expect(row?.tests.map(\.functions) == [["a", "b"], []])
        #expect(row?.pages == ["P.md#q", "R.md"])
        #expect(Row("| | What | Page |", sections, pages) == nil)
        #expect(Row("|---|---|---|", sections, pages) == nil)
    }

    /// A row of Docs/Features.md, with its section of Docs/FeatureTests.md.
    struct Row {
        let id: String
        let symbols: [String]
        let tests: [(path: String, functions: [String])]
        let pages: [String]

        /// - Parameters:
        ///   - sections: the lines of the sections, by id.
        ///   - links: the targets of links, by label.
        init?(_ line: String, _ sections: [String: [String]], _ links: [String: String]) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5,
                let number = cells[1].wholeMatch(of: #/\[([A-Z]\d+)\]\(FeatureTests\.md#([a-z]\d+)\)/#),
                number.1.lowercased() == number.2
            else { return nil }
            id = String(number.1)
            // The description, the API, and the tests as a list.
            let parts = sections[id, default: []].split(separator: "").map { $0.joined(separator: "\n") }
            let named = #/`([^`]+)`/#
            symbols = parts.count > 1 ? parts[1].matches(of: named).map { String($0.1) } : []
            tests = (parts.count > 2 ? parts[2] : "").components(separatedBy: "- [").compactMap { test in
                guard let path = test.firstMatch(of: #/\]\(([^)]+)\)/#)?.1 else { return nil }
                return (String(path), test.matches(of: named).map { String($0.1) })
            }
            pages = cells[3].matches(of: #/\[([^\]]+)\](?:\[([^\]]+)\])?/#).map { link in
                let label = String(link.2 ?? link.1)
                return links[label] ?? label
            }
        }
    }

    private static func lines(of page: String) -> Result<[String], any Error> {
        Result {
            try String(contentsOf: SourceFile.root.appending(path: "Docs/\(page).md"), encoding: .utf8)
                .components(separatedBy: "\n")
        }
    }

    /// The lines below each heading of the third level.
    private static func sections(in lines: [String]) -> [String: [String]] {
        var (sections, id): ([String: [String]], String) = ([:], "")
        for line in lines {
            if line.hasPrefix("#") {
                id = line.hasPrefix("### ") ? String(line.dropFirst(4)) : ""
            } else {
                sections[id, default: []].append(line)
            }
        }
        return sections
    }

    private static let rows = Result {
        let lines = try Self.lines(of: "Features").get()
        let sections = Self.sections(in: try Self.lines(of: "FeatureTests").get())
        var links: [String: String] = [:]
        for line in lines {
            guard let link = line.wholeMatch(of: #/\[(.+)\]: (\S+)/#) else { continue }
            links[String(link.1)] = String(link.2)
        }
        return lines.compactMap { Row($0, sections, links) }
    }

    /// The types of Sources, each with the names of the declarations in it and its extensions. Membership is
    /// determined by the indentation, which the formatter maintains.
    private static let members = Result {
        let types: Set<Substring> = ["class", "struct", "enum", "protocol", "extension"]
        let declaration =
            #/\b(class|struct|enum|protocol|extension|func|var|let|case|associatedtype|typealias) `?(\w+)/#
        var members: [String: Set<String>] = [:]
        for file in try SourceFile.all(in: "Sources") {
            var around: [(type: String, indentation: Int)] = []
            for line in file.code {
                guard let match = line.firstMatch(of: declaration) else { continue }
                let indentation = line.prefix { $0 == " " }.count
                around.removeAll { $0.indentation >= indentation }
                let name = String(match.2)
                if let type = around.last?.type { members[type, default: []].insert(name) }
                guard types.contains(match.1) else { continue }
                around.append((name, indentation))
                members[name, default: []].insert("init")
            }
        }
        return members
    }

    /// The anchors of a page's headings in a link.
    private static func anchors(in text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                String(
                    heading.drop { $0 == "#" || $0 == " " }.lowercased().map { $0 == " " ? "-" : $0 }
                        .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
            })
    }
}
