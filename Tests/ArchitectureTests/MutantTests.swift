import Foundation
import Testing

/// The bugs that `Tests/mutants.sh` plants still apply to the sources.
@Suite struct MutantTests {
    /// One bug, as `Tests/Mutants/mutants.txt` describes it.
    struct Mutant: Sendable, CustomTestStringConvertible {
        var fields: [String: String] = [:]
        var testDescription: String { fields["name"] ?? "" }

        /// The number of lines that it would replace.
        func placeCount(in lines: [String]) -> Int {
            guard let after = fields["after"] else { return lines.count { $0 == fields["-"] } }
            guard let start = lines.firstIndex(of: after) else { return 0 }
            return lines[start...].contains(fields["-"] ?? "") ? 1 : 0
        }
    }

    static func mutants(in text: String) -> [Mutant] {
        text.split(separator: "\n\n").map { block in
            var mutant = Mutant()
            for line in block.split(separator: "\n") where !line.hasPrefix("#") {
                if line.hasPrefix("- ") || line.hasPrefix("+") {
                    mutant.fields[String(line.prefix(1))] = String(line.dropFirst(2))
                } else if let colon = line.firstRange(of: ": ") {
                    mutant.fields[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
                }
            }
            return mutant
        }
        .filter { !$0.fields.isEmpty }
    }

    private static let folder = SourceFile.root.appendingPathComponent("Tests")

    static func mutants() throws -> [Mutant] {
        mutants(
            in: try String(contentsOf: folder.appendingPathComponent("Mutants/mutants.txt"), encoding: .utf8))
    }

    private static func lines(of path: String) throws -> [String] {
        try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: try mutants())
    func everyMutantApplies(_ mutant: Mutant) throws {
        let lines = try Self.lines(of: try #require(mutant.fields["file"]))
        #expect(mutant.placeCount(in: lines) == 1)
        #expect(mutant.fields["+"] != nil)
        #expect(mutant.fields["+"] != mutant.fields["-"])
    }

    /// A filter that selects no test would let every bug survive.
    @Test(arguments: try mutants())
    func everyMutantNamesTestsThatExist(_ mutant: Mutant) throws {
        if let scenario = mutant.fields["explore"] {
            let files = try SourceFile.all(in: "Tests/ExplorationTests")
            #expect(files.contains { $0.lines.contains { $0.contains("\"\(scenario)\"") } })
            return
        }
        let parts = try #require(mutant.fields["test"]).components(separatedBy: "\\.")
        #expect(parts.count == 2)
        let folder = Self.folder.appendingPathComponent(parts[0])
        let texts = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix("Tests.swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
        for name in parts[1].split(whereSeparator: { "(|)".contains($0) }) {
            #expect(
                texts.contains { $0.contains("struct \(name)") || $0.contains("class \(name)") },
                "no suite \(name)")
        }
    }

    @Test func thereAreMutants() throws {
        let names = try Self.mutants().map(\.testDescription)
        #expect(names.count >= 25)
        #expect(Set(names).count == names.count)
    }

    @Test func aMutantIsRead() throws {
        let text = "# A comment\n\nname: a-b\nfile: F.swift\nafter: f() {\n- a: b\n+\ntest: X\\.Y\n"
        let mutant = try #require(Self.mutants(in: text).first)
        #expect(mutant.fields["-"] == "a: b")
        #expect(mutant.fields["+"]?.isEmpty == true)
        #expect(mutant.placeCount(in: ["a: b", "f() {", "a: b"]) == 1)
        #expect(mutant.placeCount(in: ["a: b", "f() {"]) == 0)
        #expect(mutant.placeCount(in: ["a: b"]) == 0)
    }
}
