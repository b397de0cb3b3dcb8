import Foundation
import Synchronization

/// Lines at the end of the output that are redrawn when they change: bars, a list. If the output is not a terminal, a
/// line is written once for each of its milestones.
final class Panel: Sendable {
    /// A line.
    struct Row: Sendable {
        var text: String
        /// The milestone reached, which is written as a line; `nil` for none.
        var milestone: Int?
    }

    private struct Contents {
        var rows: [Row] = []
        var drawnCount = 0
    }

    private static let print: @Sendable (String) -> Void = { Playground.write($0, to: .standardOutput) }

    private let contents = Mutex(Contents())
    private let isTerminal: Bool
    private let width: Int
    private let output: @Sendable (String) -> Void

    /// - Parameter width: the columns of the terminal; longer lines are cut.
    init(
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1, width: Int = terminalColumns,
        output: @escaping @Sendable (String) -> Void = print
    ) {
        self.isTerminal = isTerminal
        self.width = width
        self.output = output
    }

    /// Replaces the current lines.
    func show(_ rows: [Row]) {
        contents.withLock { contents in
            let before = contents.rows
            contents.rows = rows
            guard isTerminal else {
                for (index, row) in rows.enumerated() where row.milestone != nil {
                    let isNew = index >= before.count || before[index].milestone != row.milestone
                    if isNew { output("  \(row.text)\n") }
                }
                return
            }
            output(erase(&contents) + draw(&contents))
        }
    }

    /// Writes a line above the current lines.
    func write(above line: String) {
        contents.withLock { contents in
            output(erase(&contents) + line + "\n" + draw(&contents))
        }
    }

    /// Leaves the current lines in place; later output is written below them.
    func close() {
        contents.withLock { $0 = Contents() }
    }

    /// Moves to the first of the lines and erases everything from there on.
    private func erase(_ contents: inout Contents) -> String {
        defer { contents.drawnCount = 0 }
        return contents.drawnCount > 0 ? "\u{1B}[\(contents.drawnCount)A\r\u{1B}[J" : ""
    }

    private func draw(_ contents: inout Contents) -> String {
        guard isTerminal else { return "" }
        contents.drawnCount = contents.rows.count
        return contents.rows.map { "  \($0.text)".prefix(width - 1) + "\n" }.joined()
    }
}
