import Foundation

/// One Swift file of the package.
struct SourceFile: Sendable, CustomStringConvertible {
    /// The path relative to the package's folder.
    let path: String
    let lines: [String]

    var description: String { path }

    /// The folder below `Sources`.
    var module: String { String(path.split(separator: "/")[1]) }

    /// The lines as the compiler sees them: comments are empty, and so are string literals.
    /// Line numbers stay.
    let code: [String]

    /// The modules of the import lines, with their line numbers from 1.
    var imports: [(module: String, line: Int)] {
        code.enumerated().compactMap { index, line in
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let keyword = words.firstIndex(of: "import"),
                words[..<keyword].allSatisfy(Self.isImportModifier)
            else { return nil }
            // `import struct Foundation.Data` names a declaration, `import Foundation` the module itself.
            let kinds: Set<Substring> = [
                "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
            ]
            let name = words[(keyword + 1)...].drop { kinds.contains($0) }.first ?? ""
            return (String(name.prefix { $0 != "." && $0 != ";" }), index + 1)
        }
    }

    private static func isImportModifier(_ word: Substring) -> Bool {
        let levels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
        return levels.contains(word) || word.hasPrefix("@")
    }

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = Self.withoutCommentsAndLiterals(lines)
    }

    private static func withoutCommentsAndLiterals(_ lines: [String]) -> [String] {
        var isInText = false
        return lines.map { line in
            // A multi-line literal begins and ends with three quotes.
            let quotes = line.components(separatedBy: "\"\"\"").count - 1
            if quotes % 2 == 1 {
                isInText.toggle()
                return isInText ? String(line.prefix { $0 != "\"" }) : ""
            }
            guard !isInText else { return "" }
            let bare = line.replacing(#/"(\\.|[^"\\])*"/#, with: "\"\"")
            return bare.range(of: "//").map { String(bare[..<$0.lowerBound]) } ?? bare
        }
    }
}

extension SourceFile {
    /// The package's folder.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file below a folder of the package, except the code of tutorials.
    static func all(in folder: String) throws -> [SourceFile] {
        let base = root.appendingPathComponent(folder)
        guard let paths = FileManager.default.enumerator(atPath: base.path) else { return [] }
        return try paths.compactMap { $0 as? String }.filter {
            $0.hasSuffix(".swift") && !$0.contains(".docc/")
        }
        .sorted().map { path in
            let text = try String(contentsOf: base.appendingPathComponent(path), encoding: .utf8)
            return SourceFile(path: "\(folder)/\(path)", text: text)
        }
    }
}
