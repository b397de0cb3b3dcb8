import Foundation
import Testing

/// The links of README and the documentation have targets; docc checks links between articles.
@Suite struct LinkTests {
    @Test(arguments: try SampleTests.documents())
    func everyLinkLeadsToAPlaceThatIsThere(_ document: String) throws {
        let text = try Self.text(of: SampleTests.root.appending(path: document))
        for link in Self.links(in: text) {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let folder = SampleTests.root.appending(path: document).deletingLastPathComponent()
            let target =
                parts[0].isEmpty
                ? SampleTests.root.appending(path: document) : folder.appending(path: String(parts[0]))
            guard FileManager.default.fileExists(atPath: target.standardized.path) else {
                Issue.record("\(document) links to \(link), which is not there")
                continue
            }
            guard parts.count == 2, target.pathExtension == "md" else { continue }
            let anchors = Self.anchors(in: try Self.text(of: target))
            #expect(anchors.contains(String(parts[1])), "\(document) links to \(link): no such heading")
        }
    }

    @Test func linksAndHeadingsAreRead() {
        let text = "# Your own `map(_:)`\n[a](B.md#c) [d](https://e.f)\n```\n[g](h)\n# i\n```\n[j](#k)"
        #expect(Self.links(in: text) == ["B.md#c", "#k"])
        #expect(Self.anchors(in: text) == ["your-own-map_"])
    }

    static func text(of file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Links within the project.
    static func links(in text: String) -> [String] {
        withoutBlocks(text).flatMap { line in
            line.matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.1) }
                .filter { !$0.contains("://") && !$0.hasPrefix("<doc:") }
        }
    }

    /// The anchors of the headings: lower case, hyphens for spaces, and neither points nor brackets.
    static func anchors(in text: String) -> Set<String> {
        Set(
            withoutBlocks(text).filter { $0.hasPrefix("#") }.map { heading in
                String(
                    heading.drop { $0 == "#" || $0 == " " }.lowercased().map { $0 == " " ? "-" : $0 }
                        .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
            })
    }

    private static func withoutBlocks(_ text: String) -> [Substring] {
        var isInside = false
        return text.split(separator: "\n").filter { line in
            guard line.hasPrefix("```") else { return !isInside }
            isInside.toggle()
            return false
        }
    }
}
