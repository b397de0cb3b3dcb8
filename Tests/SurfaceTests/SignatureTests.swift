import Foundation
import Testing

/// The signatures at the top of the documentation's pages are those of the sources.
@Suite struct SignatureTests {
    @Test(arguments: try SampleTests.documents())
    func everySignatureIsDeclared(_ document: String) throws {
        let (sources, protocols) = (try Self.sources.get(), try Self.protocols.get())
        for signature in try SampleTests.listing(in: document).map(Self.signatures) ?? [] {
            #expect(
                sources.contains("public \(signature) ") || protocols.contains(" \(signature) "),
                "\(document): not declared in Sources: \(signature)")
        }
    }

    /// Functions that a page names with their labels exist. Pages about other libraries name theirs, too.
    @Test(
        arguments: try SampleTests.documents().filter {
            !$0.contains("ComingFrom") && !$0.contains("CHANGELOG")
        })
    func everyNamedFunctionIsDeclared(_ document: String) throws {
        let declared = try Self.functions.get()
        let text = try String(contentsOf: SampleTests.root.appending(path: document), encoding: .utf8)
        for match in text.matches(of: #/`([a-z]\w*)\(((?:\w+:)+)\)`/#) {
            guard !Self.standardFunctions.contains(match.output.0) else { continue }
            let (name, labels) = (
                match.output.1, match.output.2.split(separator: ":").map(String.init)
            )
            #expect(
                declared[name]?.contains { Self.labels($0).containsInOrder(labels) } == true,
                "not declared in Sources: \(name)(\(match.output.2))")
        }
    }

    /// Pages about a capability start with its signatures.
    @Test(arguments: try articles())
    func everyCapabilityBeginsWithItsSignatures(_ document: String) throws {
        #expect(try SampleTests.listing(in: document) != nil, "no signatures")
        #expect(try !SampleTests.samples(in: document).isEmpty, "no sample")
    }

    @Test func signaturesAreRead() {
        let listing = [
            "extension A {", "    func a(", "        _ b: Int = 1", "    ) -> C", "    var d: E",
            "    init(f: @escaping () -> Void = {})", "}",
        ]
        #expect(Self.isListing(listing))
        #expect(
            Self.signatures(listing) == [
                "func a(_ b: Int = 1) -> C", "var d: E", "init(f: @escaping () -> Void = {})",
            ])
        #expect(!Self.isListing(["extension A {", "    var d: E { .f }", "}"]))
        #expect(!Self.isListing(["let a = 1"]))
    }

    /// Pages without a declaration as their subject.
    private static let overviews: Set<String> = [
        "RxNetworking", "GettingStarted", "CompilerMessages", "Glossary", "Streams", "Contracts", "RxTesting",
        "RxSimulation", "OperatingAnOutbox",
        "RxDiskCache", "RxFleet", "RxJSON",
        "RxOutbox", "RxTransfers",
    ]

    static func articles() throws -> [String] {
        try SampleTests.documents().filter { document in
            let name = URL(filePath: document).deletingPathExtension().lastPathComponent
            return document.contains(".docc/") && !overviews.contains(name) && !name.hasPrefix("ComingFrom")
        }
    }

    /// Whether the lines list declarations without their bodies.
    static func isListing(_ lines: [String]) -> Bool {
        guard lines.first?.hasPrefix("extension ") == true else { return false }
        return lines.allSatisfy { line in
            // A closure may be the default of a parameter.
            line.hasPrefix("extension ") || !line.replacing(#/= \{[^}]*\}/#, with: "").contains("{")
        }
    }

    private static let keywords: Set<Substring> = [
        "func", "var", "let", "init", "init?", "static", "mutating", "case", "subscript", "struct", "class",
        "final",
        "enum", "protocol", "typealias", "nonisolated", "convenience", "override",
    ]

    /// The declarations of a listing, each on one line.
    static func signatures(_ lines: [String]) -> [String] {
        var signatures: [String] = []
        for line in lines where !line.hasPrefix("extension ") && !line.hasPrefix("}") {
            let indentation = line.prefix { $0 == " " }.count
            let word = line.drop { $0 == " " }.prefix { $0 != " " && $0 != "(" && $0 != "<" }
            if indentation == 4, keywords.contains(word) {
                signatures.append(line)
            } else if !line.allSatisfy(\.isWhitespace), !signatures.isEmpty {
                signatures[signatures.endIndex - 1] += " " + line
            }
        }
        return signatures.map(normalized)
    }

    /// Functions of the standard library that pages name.
    private static let standardFunctions: Set<Substring> = [
        "`first(where:)`", "`min(by:)`", "`allSatisfy(_:)`", "`init(from:)`", "`decode(_:from:)`",
    ]

    /// The parameter lists of the functions of the sources, by their names.
    private static let functions = Result { () throws -> [Substring: [Substring]] in
        let pieces = try sources.get().components(separatedBy: "func ").dropFirst().map { $0[...] }
        return Dictionary(grouping: pieces) { $0.drop { $0 == "`" }.prefix { $0.isLetter || $0.isNumber } }
    }

    /// The labels of the parameters of a function, whose name or type parameters `text` begins with.
    private static func labels(_ text: Substring) -> [String] {
        var (depth, labels, word, isAtStart) = (0, [String](), "", true)
        for character in text.drop(while: { $0 != "(" }).dropFirst() {
            if depth == 0, character == ")" { break }
            switch character {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case "," where depth == 0: (isAtStart, word) = (true, "")
            case " ", ":":
                if isAtStart, !word.isEmpty {
                    labels.append(word)
                    isAtStart = false
                }
            default: if isAtStart { word.append(character) }
            }
        }
        return labels
    }

    /// The sources without comments and attributes on lines of their own, with one space between words.
    private static let sources = Result { () throws -> String in
        let folder = SampleTests.root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter {
                $0.hasSuffix(".swift") && !$0.contains(".docc/") && !$0.contains("/Unavailable")
            }
        return try paths.map { path in
            try String(contentsOf: folder.appending(path: path), encoding: .utf8).split(separator: "\n")
                .filter { line in
                    let code = line.drop { $0 == " " }
                    return !code.hasPrefix("//") && !(code.hasPrefix("@") && !code.contains(" "))
                }
                .joined(separator: " ")
        }
        .map(normalized).joined(separator: " ")
    }

    /// The same for the public protocols alone, whose requirements have no access level.
    private static let protocols = Result { () throws -> String in
        try sources.get().matches(
            of: #/public protocol .*? }(?= (?:@|extension|public|package|struct|final|$))/#
        )
        .map { String($0.output) }.joined(separator: " ")
    }

    private static func normalized(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .replacing("( ", with: "(").replacing(" )", with: ")").replacing("@discardableResult ", with: "")
    }
}

extension [String] {
    /// Whether all of `others` occur, in their order.
    fileprivate func containsInOrder(_ others: [String]) -> Bool {
        var rest = self[...]
        return others.allSatisfy { other in
            guard let index = rest.firstIndex(of: other) else { return false }
            rest = rest[(index + 1)...]
            return true
        }
    }
}
