import Foundation
import RxNetworking
import RxTesting
import Testing

/// The diagrams of the article Operators show the behaviour of the operators.
@Suite struct DiagramTests {
    @Test(arguments: try diagrams())
    func theOperatorDoesWhatItsDiagramSays(_ diagram: Diagram) throws {
        let operation = try #require(Operations.all[diagram.operation], "nothing runs this line")
        let clock = VirtualScheduler()
        let sources = try diagram.sources.map { marbles in
            let source: MarbleSource<String, Lost> = try clock.cold(marbles, error: Lost())
            return source.observable
        }
        let recorder = Recorder(operation(sources, clock), on: clock)
        try clock.advance(by: diagram.length)
        try recorder.expect(diagram.result, values: diagram.legend, error: Lost())
    }

    /// Otherwise a line that was removed from the page would leave its code behind.
    @Test func everyOperationHasItsDiagram() throws {
        let shown = Set(try Self.diagrams().map(\.operation))
        #expect(Set(Operations.all.keys).subtracting(shown).isEmpty)
    }

    @Test func diagramsAreRead() throws {
        let page = "text\n```marbles\n  -a|\nb:  -b|\nzip  -A|   A = ab   B =\n\nempty()  |\n```\n  -c|"
        let diagrams = Diagram.diagrams(in: page.split(separator: "\n", omittingEmptySubsequences: false))
        #expect(diagrams.map(\.operation) == ["zip", "empty()"])
        #expect(diagrams.map(\.sources) == [["-a|", "-b|"], []])
        #expect(diagrams.map(\.result) == ["-A|", "|"])
        #expect(diagrams.first?.legend == ["A": "ab", "B": ""])
    }

    static func diagrams() throws -> [Diagram] {
        let page = SampleTests.root.appending(
            path: "Sources/RxNetworking/RxNetworking.docc/RxLite/Operators.md")
        return Diagram.diagrams(
            in: try String(contentsOf: page, encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false))
    }
}
