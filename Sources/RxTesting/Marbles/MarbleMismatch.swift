import RxLite

/// The difference between a stream and its diagram. Prints both, one above the other:
///
/// ```
/// the streams differ at 0.005 seconds
/// expected  --a--b-|
/// actual    --a--c-|
///                ^
/// ```
///
/// Events at one instant share a column, so that both lines stay aligned; long waits are written as a time.
public struct MarbleMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The expected events.
    public let expected: String
    /// The actual events.
    public let actual: String
    /// The column of the first difference in both, from 0.
    public let column: Int
    /// The virtual time of the first difference.
    public let time: Duration
    /// The values of letters that the test did not define, one per line.
    public let legend: [String]

    /// Both diagrams, with a caret under the first difference.
    public var description: String {
        let lines = [
            "the streams differ at \(time)", "expected  " + expected, "actual    " + actual,
            String(repeating: " ", count: 10 + column) + "^",
        ]
        return (lines + legend).joined(separator: "\n")
    }

    init?<Element: Equatable, Failure: Error>(
        expected: [MarbleEvent<Element, Failure>], actual: [MarbleEvent<Element, Failure>],
        letters: [Character: Element], frame: Duration
    ) {
        var alphabet = MarbleAlphabet(letters)
        let expectedCells = alphabet.cells(of: expected)
        let actualCells = alphabet.cells(of: actual)
        var lines = (expected: "", actual: "")
        var first: (column: Int, time: Duration)?
        var due: Duration = .zero
        for time in Set(expectedCells.keys).union(actualCells.keys).sorted() {
            let wait = Self.wait(time - due, frame: frame)
            lines.expected += wait
            lines.actual += wait
            let cells = (expectedCells[time] ?? "", actualCells[time] ?? "")
            if first == nil && cells.0 != cells.1 { first = (lines.expected.count, time) }
            let width = max(cells.0.count, cells.1.count)
            lines.expected += cells.0.padded(to: width)
            lines.actual += cells.1.padded(to: width)
            due = time + frame
        }
        guard let first else { return nil }
        self.expected = lines.expected
        self.actual = lines.actual
        column = first.column
        time = first.time
        legend = alphabet.legend
    }

    private static func wait(_ wait: Duration, frame: Duration) -> String {
        let frames = max(0, wait / frame)
        guard frames == frames.rounded(), frames <= 40 else { return " \(wait) " }
        return String(repeating: "-", count: Int(frames))
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: "-", count: width - count)
    }
}

/// Letters for values: those of the test, then others as needed.
struct MarbleAlphabet<Element: Equatable> {
    private var entries: [(letter: String, value: Element)]
    private let givenCount: Int
    private var errors: [String] = []
    private var spare = Array("zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA")

    init(_ letters: [Character: Element]) {
        entries = letters.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }
        givenCount = entries.count
    }

    /// The values of letters that were not given, and the errors if there are several.
    var legend: [String] {
        let letters = entries[givenCount...].filter { "\($0.value)" != $0.letter }
        return letters.map { "\($0.letter) = \($0.value)" }
            + (errors.count > 1 ? errors.enumerated().map { "#\($0.offset) = \($0.element)" } : [])
    }

    /// The events at each instant, as text.
    mutating func cells<Failure: Error>(of events: [MarbleEvent<Element, Failure>]) -> [Duration: String] {
        var cells: [Duration: String] = [:]
        for event in events { cells[event.time, default: ""] += symbol(for: event.kind) }
        return cells.mapValues { $0.count > 1 ? "(\($0))" : $0 }
    }

    /// The mark that ``MarbleParser`` reads; a further error has its number behind it.
    private mutating func symbol<Failure: Error>(for kind: StreamEvent<Element, Failure>) -> String {
        switch kind {
        case .next(let value): letter(for: value)
        case .end(.finished): "|"
        case .end(.failed(let error)): symbol(for: "\(error)")
        }
    }

    private mutating func symbol(for error: String) -> String {
        if !errors.contains(error) { errors.append(error) }
        let index = errors.firstIndex(of: error) ?? 0
        return index == 0 ? "#" : "#\(index)"
    }

    private mutating func letter(for value: Element) -> String {
        if let known = entries.first(where: { $0.value == value }) { return known.letter }
        let itself = (value as? String).flatMap { $0.count == 1 ? $0 : nil }
        let isTaken = entries.contains { $0.letter == itself }
        while let last = spare.last, entries.contains(where: { $0.letter == String(last) }) {
            spare.removeLast()
        }
        let letter =
            itself.flatMap { isTaken ? nil : $0 } ?? spare.popLast().map(String.init) ?? "<\(entries.count)>"
        entries.append((letter, value))
        return letter
    }
}
