import Testing

/// Every operator's doc comment shows its effect as marbles.
@Suite struct DiagramTests {
    @Test func everyOperatorHasItsDiagram() throws {
        let operators = try SourceFile.all(in: "Sources/RxLite/Operators").filter { file in
            file.lines.contains { $0.hasPrefix("extension Observable") }
                && file.lines.contains { $0.hasPrefix("    public ") }
        }
        #expect(operators.count > 40)
        for file in operators where !Self.showsMarbles(file.lines) {
            Issue.record("\(file.path): no doc comment has a marble diagram")
        }
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
}
