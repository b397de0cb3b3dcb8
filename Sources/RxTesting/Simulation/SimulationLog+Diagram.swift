extension SimulationLog {
    /// The run as a marble diagram: a line for the faults, for each kind of request, for each subscription and for each
    /// subject of notes, and a legend of the faults and values.
    ///
    /// | Mark | Meaning |
    /// |---|---|
    /// | `^` | a request is sent, a subscription begins |
    /// | `s` | the server acts on the request |
    /// | `2` … `5` | the first digit of the response's status |
    /// | a letter | a value or a note |
    /// | `\|`, `#`, `!` | the end, a failure, a cancel |
    /// | `x` | a fault; a process is killed |
    ///
    /// Events at one instant stand in parentheses; long waits are written as a time.
    public var diagram: String {
        var rows = DiagramRows()
        for event in events { rows.add(event) }
        return rows.text
    }
}

/// The rows of a diagram while they are gathered.
private struct DiagramRows {
    private var names: [String] = []
    private var cells: [String: [Duration: String]] = [:]
    private var letters: [String: Character] = [:]
    private var spare = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrtuvwyz".reversed())
    private var legend: [String] = []

    mutating func add(_ event: SimulationEvent) {
        var row = event.subject.withoutNumber
        let mark: String
        switch event.kind {
        case .sent, .subscribed, .started: mark = "^"
        case .received: mark = "s"
        case .head(let code): mark = "\(code / 100)"
        case .value(let text), .note(let text): mark = letter(for: text)
        case .finished: mark = "|"
        case .failed: mark = "#"
        case .cancelled: mark = "!"
        case .killed: mark = "x"
        case .fault(let fault):
            row = "faults"
            mark = "x"
            legend.append("x at \(event.time): \(event.subject) \(fault)")
        }
        if cells[row] == nil { names.append(row) }
        cells[row, default: [:]][event.time, default: ""] += mark
    }

    private mutating func letter(for text: String) -> String {
        if let letter = letters[text] { return String(letter) }
        guard let letter = spare.popLast() else { return "*" }
        letters[text] = letter
        let short = text.count > 80 ? text.prefix(80) + "…" : text[...]
        legend.append("\(letter) = \(short)")
        return String(letter)
    }

    var text: String {
        let names = (cells["faults"] == nil ? [] : ["faults"]) + names.filter { $0 != "faults" }
        let cells = cells.mapValues { row in row.mapValues { $0.count > 1 ? "(\($0))" : $0 } }
        let times = Set(cells.values.flatMap(\.keys)).sorted()
        let width = names.map(\.count).max() ?? 0
        var lines = names.map { $0 + String(repeating: " ", count: width - $0.count + 2) }
        var due = Duration.zero
        for time in times {
            let frames = (time - due).milliseconds
            let wait = frames > 5 ? " \((time - due)) " : String(repeating: "-", count: max(0, frames))
            let columns = names.map { cells[$0]?[time] ?? "" }
            let length = columns.map(\.count).max() ?? 0
            for (index, cell) in columns.enumerated() {
                lines[index] += wait + cell + String(repeating: "-", count: length - cell.count)
            }
            due = time + .milliseconds(1)
        }
        return (lines + [""] + legend).joined(separator: "\n")
    }
}

extension String {
    /// The name of a place without its number.
    fileprivate var withoutNumber: String {
        guard let mark = range(ofLast: " #") else { return self }
        return String(self[..<mark])
    }

    private func range(ofLast text: String) -> Index? {
        var index = endIndex
        while index > startIndex {
            index = self.index(before: index)
            if self[index...].hasPrefix(text) { return index }
        }
        return nil
    }
}
