import Foundation
import Testing

/// The articles about streams name existing declarations: all operators, and nothing else.
@Suite struct OperatorPageTests {
    /// The public functions of streams in the operators' folder, as a page writes them: the name, and the first label if
    /// there is one.
    static func operators(in file: SourceFile) -> Set<String> {
        // Only a loop asks for an iterator.
        let operators = Declaration.all(in: file).filter {
            $0.isPublicFunction && $0.owner == "Observable" && $0.name != "makeAsyncIterator"
        }
        return Set(
            operators.map { function in
                let label = function.labels.first.map { $0 == "_" ? "" : "\($0):" } ?? ""
                return "\(function.name)(\(label)"
            })
    }

    @Test func everyOperatorHasItsPlace() throws {
        let page = try Self.text(of: "RxLite/Operators.md")
        let files = try SourceFile.all(in: "Sources/RxLite/Operators")
        let operators = files.reduce(Set()) { $0.union(Self.operators(in: $1)) }
        #expect(operators.count > 60)
        for name in operators.sorted() where !page.containsCall(name) {
            Issue.record("RxLite/Operators.md does not list \(name)…)")
        }
    }

    @Test(arguments: pages)
    func whatTheTablesNameIsThere(_ page: String) throws {
        let labels = try Self.labels.get()
        for (name, label) in Self.calls(in: try Self.text(of: page)) {
            guard let known = labels[name] else {
                Issue.record("\(page) names \(name)(), which is not there")
                continue
            }
            guard let label else { continue }
            #expect(known.contains(label), "\(page) names \(name)(\(label):), which is not there")
        }
    }

    @Test(
        arguments: [
            ("    public func take(\n        while predicate: Int, inclusive: Bool\n    )", ["take(while:"]),
            ("public static func zip<A, B>(_ a: A, _ b: B)", ["zip("]), ("func map(_ a: Int)", []),
            ("public func `catch`<E>(_ a: E) where E: P", ["catch("]),
            ("public func last() -> Int", ["last("]),
            ("// public func a()", []), ("}\nstruct A {\n    public func a()", []),
        ] as [(String, Set<String>)])
    func declarationsAreRead(text: String, names: Set<String>) {
        let text = "extension Observable where Failure == Never {\n\(text)"
        #expect(Self.operators(in: SourceFile(path: "Sources/X/Y.swift", text: text)) == names)
    }

    @Test func callsInTablesAreRead() {
        let page = """
            | Theirs | RxLite | What differs |
            |---|---|---|
            | `a(b:)` | `take(until:)`, `map(_:).filter` | `c()` |

            `d()`
            """
        let calls = Self.calls(in: page).map { "\($0.name) \($0.label ?? "")" }
        #expect(calls == ["take until", "map "])
    }

    /// The calls in the column of a table that is headed `RxLite` or `Operator`.
    static func calls(in page: String) -> [(name: String, label: String?)] {
        var column: Int?
        var calls: [(name: String, label: String?)] = []
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                column = nil
                continue
            }
            let cells = line.replacing(#"\|"#, with: "/").split(
                separator: "|", omittingEmptySubsequences: false
            )
            .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let ours = column else {
                column = cells.firstIndex { ["RxLite", "Operator"].contains($0) }
                continue
            }
            guard ours < cells.count else { continue }
            for code in cells[ours].matches(of: #/`([^`]+)`/#) {
                for call in code.1.matches(of: #/(\w+)\((?:(\w+):)?/#) {
                    calls.append((String(call.1), call.2.flatMap { $0 == "_" ? nil : String($0) }))
                }
            }
        }
        return calls
    }

    /// The names that RxLite and RxTesting declare, each with the labels of all functions of that name.
    static let labels = Result {
        let files =
            try SourceFile.all(in: "Sources/RxLite").filter { !$0.path.contains("/Unavailable/") }
            + SourceFile.all(in: "Sources/RxTesting")
        return files.flatMap(Declaration.all).reduce(into: [String: Set<String>]()) {
            $0[$1.name, default: []].formUnion($1.labels)
        }
    }

    static let folder = SourceFile.root.appendingPathComponent("Sources/RxNetworking/RxNetworking.docc")

    static let pages = [
        "RxLite/Operators.md", "RxLite/Streams.md", "ComingFrom/ComingFromCombine.md",
        "ComingFrom/ComingFromRxSwift.md",
    ]

    static func text(of page: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8)
    }
}

extension String {
    /// Whether `name` occurs here, and not as the end of a longer name.
    fileprivate func containsCall(_ name: String) -> Bool {
        ranges(of: name).contains { range in
            range.lowerBound == startIndex || !(self[index(before: range.lowerBound)].isLetter)
        }
    }
}
