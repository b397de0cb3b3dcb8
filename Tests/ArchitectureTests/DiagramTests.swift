import Testing

/// Every operator's doc comment shows its effect as marbles.
@Suite struct DiagramTests {
    /// The operators without a diagram, with the reasons.
    private static let exempt = [
        "dematerialize": "the diagram of materialize(), from right to left",
        "values": "a loop, which is no stream", "makeAsyncIterator": "a loop, which is no stream",
    ]

    @Test func everyOperatorHasItsDiagram() throws {
        let files = try SourceFile.all(in: "Sources/RxLite/Operators")
        let operators = files.flatMap { file in
            Self.operators(in: file).map { (file.path, $0.key, $0.value) }
        }
        #expect(operators.count > 55)
        for (path, name, hasDiagram) in operators where !hasDiagram && Self.exempt[name] == nil {
            Issue.record("\(path): no doc comment of \(name) has a marble diagram")
        }
    }

    /// The operators that a file declares, each with whether the doc comment of one of its forms shows marbles.
    static func operators(in file: SourceFile) -> [String: Bool] {
        var operators: [String: Bool] = [:]
        var isInExtension = false
        var comment: [String] = []
        for (line, code) in zip(file.lines, file.code) {
            if code.first?.isLetter == true { isInExtension = code.hasPrefix("extension Observable") }
            if line.hasPrefix("    ///") {
                comment.append(line)
                continue
            }
            if isInExtension, let match = code.firstMatch(of: #/^    public (?:static )?(func `?\w+|init)/#) {
                let name = String(match.1.split { " `".contains($0) }.last ?? "")
                operators[name] = operators[name] == true || showsMarbles(comment)
            }
            // Attributes stand between a comment and its declaration.
            if !line.hasPrefix("    @") { comment = [] }
        }
        return operators
    }

    /// Whether a code block of a doc comment, one without a language, has a line of marbles.
    static func showsMarbles(_ lines: [String]) -> Bool {
        var isInBlock = false
        var isDiagram = false
        for line in lines {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("///") else { continue }
            let comment = text.dropFirst(3).drop { $0 == " " }
            if comment.hasPrefix("```") {
                isDiagram = !isInBlock && comment == "```"
                isInBlock.toggle()
            } else if isDiagram, comment.contains(/^[0-9a-z(,)|#-]*[|#-][0-9a-z(,)|#-]*( |$)/) {
                return true
            }
        }
        return false
    }

    @Test func blocksThatShowNoMarblesDoNotCount() {
        #expect(Self.showsMarbles(["/// ```", "///  --1--|", "/// ```"]))
        #expect(!Self.showsMarbles(["/// ```swift", "///  --1--|", "/// ```"]))
        #expect(!Self.showsMarbles(["/// ```", "/// take(2)", "/// ```", "/// --1--|"]))
    }

    @Test func operatorsAreRead() {
        let text = """
            extension Observable where Failure == Never {
                /// ```
                /// --1--|
                /// ```
                @inlinable
                public func `catch`() {}

                /// The same.
                public func `catch`(_ a: Int) {}

                /// No diagram.
                public static func just() {}
                public init() {}
                func own() {}
            }
            struct A {
                public func b() {}
            }
            """
        let operators = Self.operators(in: SourceFile(path: "Sources/X/Y.swift", text: text))
        #expect(operators == ["catch": true, "just": false, "init": false])
    }
}
