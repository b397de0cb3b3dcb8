import RxHTTP
import Synchronization
import Testing

@testable import Playground

/// The output of the tour.
struct PanelTests {
    private final class Paper: Sendable {
        let text = Mutex("")

        @Sendable func write(_ part: String) { text.withLock { $0 += part } }

        /// The output since the last call.
        func read() -> String {
            text.withLock { text in
                defer { text = "" }
                return text
            }
        }
    }

    @Test func aTerminalIsDrawnOver() {
        let paper = Paper()
        let panel = Panel(isTerminal: true, width: 10, output: paper.write)
        panel.show([Panel.Row(text: "one"), Panel.Row(text: "two")])
        #expect(paper.read() == "  one\n  two\n")
        panel.show([Panel.Row(text: "longer than there is room")])
        #expect(paper.read() == "\u{1B}[2A\r\u{1B}[J  longer \n")
        panel.write(above: "note")
        #expect(paper.read() == "\u{1B}[1A\r\u{1B}[Jnote\n  longer \n")
        panel.close()
        panel.write(above: "below")
        #expect(paper.read() == "below\n")
    }

    @Test func elsewhereMilestonesAreLines() {
        let paper = Paper()
        let panel = Panel(isTerminal: false, output: paper.write)
        for bytes: Int64 in [0, 1, 25, 49, 50, 100] {
            let bar = ProgressBar(label: "tea", progress: TransferProgress(bytes: bytes, expected: 100))
            panel.show([bar.row, Panel.Row(text: "never")])
        }
        let percents = paper.read().split(separator: "\n").compactMap { $0.firstMatch(of: #/(\d+) %/#)?.1 }
        #expect(percents == ["0", "25", "50", "100"])
    }

    @Test(
        arguments: [
            (0, 100, "[........................]   0 %"), (50, 100, "[############............]  50 %"),
            (100, 100, "[########################] 100 %"), (7, nil, "[........................]   0 %"),
        ] as [(Int64, Int64?, String)])
    func barsAreFilled(bytes: Int64, expected: Int64?, bar: String) {
        let progress = TransferProgress(bytes: bytes, expected: expected)
        #expect(ProgressBar(label: "tea", progress: progress).row.text.contains(bar))
    }

    @Test func longTextIsBrokenAtSpacesAndIndented() {
        #expect(wrapped("one two three", after: "=> ", columns: 10) == "=> one two\n   three")
        #expect(wrapped("one", after: "   ", columns: 40) == "   one")
        #expect(
            wrapped("http://127.0.0.1:8080 is here", after: "- ", columns: 10)
                == "- http://127.0.0.1:8080\n  is here")
        #expect(wrapped("a  b", after: "", columns: 40) == "a  b")
        #expect(wrapped("", after: "> ", columns: 40) == "> ")
    }
}
