import Foundation
import Testing

/// Each mark that turns off a check of the compiler has a comment that names the guard.
@Suite struct GuardTests {
    static let unchecked = [
        "@unchecked Sendable", "try!", "fatalError(", "nonisolated(unsafe)",
    ]

    /// The maximum number of lines between a mark and its comment.
    static let reach = 4

    /// The marks of a file without a comment near them, as `line: mark`.
    static func unguarded(in file: SourceFile) -> [String] {
        file.code.enumerated().flatMap { index, line in
            unchecked.filter { line.contains($0) }.compactMap { mark in
                let near = file.lines[max(0, index - reach)...min(file.lines.count - 1, index + reach)]
                // Doc comments are for users; the guard is for maintainers.
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

    /// Whether a file claims that only a loop touches an unchecked type, and never asserts it.
    static func trusts(_ file: SourceFile) -> Bool {
        let asserts = ["assertCurrent(", "preconditionCurrent("]
        guard file.code.contains(where: { $0.contains("@unchecked Sendable") }),
            !file.code.contains(where: { line in asserts.contains { line.contains($0) } })
        else { return false }
        let comments = file.lines.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("// ") }.map { $0.dropFirst(3) }.joined(separator: " ")
        return comments.contains(#/([Tt]ouched|[Aa]ccessed).* loop/#) && !comments.contains("asserted")
    }

    @Test func whatIsTouchedOnALoopOnlyAssertsIt() throws {
        for file in try SourceFile.all(in: "Sources/RxLoop") + SourceFile.all(in: "Sources/RxCurl")
        where Self.trusts(file) {
            Issue.record("\(file.path) asserts nowhere that it is on the loop")
        }
    }

    @Test(
        arguments: [
            ("class A: @unchecked Sendable {\n    // Unchecked: touched on the loop only.\n}", true),
            ("class A: @unchecked Sendable {\n    // Touched on the loop only; asserted by B.\n}", false),
            ("class A: @unchecked Sendable {\n    // Unchecked: accessed on the loop only.\n}", true),
            ("class A: @unchecked Sendable {\n // touched on the loop\n f() { assertCurrent() }\n}", false),
            ("class A: Sendable {\n    // touched on the loop only\n}", false),
        ])
    func trustIsFound(text: String, isFound: Bool) {
        #expect(Self.trusts(SourceFile(path: "Sources/RxLoop/Y.swift", text: text)) == isFound)
    }

    /// The code that hides secrets, or decides about them.
    static let secretive = [
        "RxHTTP/Redaction/", "RxHTTP/Authentication/Authentication", "RxHAR/", "RxCookies/SetCookie",
        "RxClient/Session/Credential.", "RxCurl/Transport/Proxy.", "RxInspector/Network/ShownExchange.",
        "RxSimulation/Cassettes/Pseudonyms.",
    ]

    /// The number of places at which a file cuts a text at a `Character`.
    static func charactersCut(in file: SourceFile) -> Int {
        let cut =
            #/split\(\s*separator: ""|(first|last)Index\(of: ""|(prefix|drop|split|(first|last)Index) \{ *\$0 [!=]= ""/#
        return file.code.joined(separator: "\n").matches(of: cut).count
    }

    /// A separator is another `Character` with a combining mark after it, or a mark such as U+0600 before it. Peers cut at
    /// bytes, and would find a secret where this library finds none.
    @Test func secretsAreFoundByBytes() throws {
        let files = try SourceFile.all(in: "Sources").filter { file in
            Self.secretive.contains { file.path.hasPrefix("Sources/" + $0) }
        }
        #expect(files.count >= 15)
        for file in files {
            #expect(Self.charactersCut(in: file) == 0, "\(file.path): use parts(at:), cut(at:) or utf8")
        }
    }

    @Test(
        arguments: [
            ("text.split(separator: \";\")", 1), ("text.split(\n    separator: \"=\", maxSplits: 1)", 1),
            ("text.prefix { $0 != \"?\" && $0 != \"#\" }", 1), ("text.lastIndex(of: \"@\")", 1),
            ("text.parts(at: \";\").joined(separator: \";\")", 0), ("// text.split(separator: \";\")", 0),
            ("text.utf8.prefix { $0 != UInt8(ascii: \"?\") }", 0), ("bytes.split(separator: 0x0A)", 0),
        ])
    func cutsAtCharactersAreFound(text: String, count: Int) {
        #expect(Self.charactersCut(in: SourceFile(path: "Sources/X/Y.swift", text: text)) == count)
    }

    @Test func filesAreShort() throws {
        let files = try SourceFile.all(in: "Sources")
        #expect(!files.isEmpty)
        for file in files where file.lines.count > 601 {
            Issue.record("\(file.path) has \(file.lines.count - 1) lines; 600 are the most")
        }
    }

    /// A file holds a concept, so that a reader finds things by the tree, and few files merely extend another one.
    @Test func filesHoldConcepts() throws {
        let files = try SourceFile.all(in: "Sources")
        let lengths = files.map { $0.lines.count - 1 }.sorted()
        #expect(lengths.reduce(0, +) >= 150 * files.count)
        #expect(lengths[lengths.count / 2] >= 110)
        #expect(files.filter { $0.path.contains("+") }.count <= 20)
    }

    /// A hook without its protocol would never be called.
    @Test func stagesDeclareTheirHooks() throws {
        let hooks = [
            "send": "RequestStage", "receive": "EventStage", "end": "EndStage", "cancel": "EndStage",
        ]
        var stage = ""
        for line in try SourceFile.all(in: "Sources/RxClient/Pipeline/Stages").flatMap(\.lines) {
            if !line.hasPrefix(" "), line.contains("class ") { stage = line }
            guard stage.contains("Stage"), let hook = line.firstMatch(of: #/^ {4}func (\w+)\(/#)?.1,
                let name = hooks[String(hook)]
            else { continue }
            #expect(stage.contains(name), "\(line) in \(stage)")
        }
    }

    /// One way to say what a test proves: its name, and a doc comment.
    @Test func testsHaveNoTitles() throws {
        let title = #/@(Test|Suite)\(\s*"/#
        for file in try SourceFile.all(in: "Tests") {
            let text = file.lines.joined(separator: "\n")
            #expect(text.firstMatch(of: title) == nil, "\(file.path)")
        }
    }

    /// One form of headings within a file, which editors show in their lists of symbols.
    @Test func headingsHaveOneForm() throws {
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests") {
            for line in file.lines where line.contains(#/^ *// ?MARK\b/#) {
                #expect(line.contains(#/^ *// MARK: - \S/#), "\(file.path)")
            }
        }
    }

    /// The types that a user of a module meets in its list of symbols, also those nested in others.
    @Test(arguments: [
        "RxClient": 69, "RxHTTP": 37, "RxLite": 40, "RxTesting": 27, "RxSimulation": 25, "RxHAR": 1,
    ])
    func publicTypesAreFew(module: String, limit: Int) throws {
        #expect(try Self.publicTypes(in: "Sources/\(module)") <= limit)
    }

    /// All modules but the products that stand for themselves: an outbox, a fleet, transfers, and signatures with OAuth.
    @Test func publicTypesAreFewInAll() throws {
        let products = try ["RxAuth", "RxFleet", "RxOutbox", "RxTransfers"].map {
            try Self.publicTypes(in: "Sources/\($0)")
        }
        #expect(try Self.publicTypes(in: "Sources") - products.reduce(0, +) <= 251)
    }

    /// The number of public types in a folder; of aliases, only those at the top level.
    private static func publicTypes(in folder: String) throws -> Int {
        let declaration =
            #/ *(@\w+ )*public (final |indirect )*(actor|class|enum|protocol|struct) |public typealias /#
        let counts = try SourceFile.all(in: folder).map { file in
            file.lines.count { $0.prefixMatch(of: declaration) != nil }
        }
        return counts.reduce(0, +)
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
