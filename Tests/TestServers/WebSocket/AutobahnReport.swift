/// The outcomes of a run as a table by section.
public struct AutobahnReport: Sendable, CustomStringConvertible {
    /// The outcomes in the order of the cases.
    public let outcomes: [AutobahnOutcome]

    /// Creates a report.
    public init(_ outcomes: [AutobahnOutcome]) { self.outcomes = outcomes }

    /// The names of the suite's sections.
    private static let names = [
        1: "Framing", 2: "Pings and pongs", 3: "Reserved bits", 4: "Opcodes", 5: "Fragmentation",
        6: "UTF-8 handling", 7: "Close handling", 9: "Limits and performance", 10: "Automatic fragments",
        12: "Compression, payloads", 13: "Compression, parameters",
    ]

    /// Whether every outcome is OK or informational.
    public var isOK: Bool { outcomes.allSatisfy(\.isOK) }

    /// A line for each section, one for the sum, and one for each outcome that is not OK.
    public var description: String {
        var lines = [
            Self.line("section", ["cases", "OK", "non-strict", "failed", "informational", "close not OK"])
        ]
        for section in Set(outcomes.map(\.section)).sorted() {
            let part = outcomes.filter { $0.section == section }
            lines.append(Self.line("\(section) \(Self.names[section, default: ""])", Self.counts(part)))
        }
        lines.append(Self.line("all", Self.counts(outcomes)))
        lines += outcomes.filter { !$0.isOK }.map(\.description)
        return lines.joined(separator: "\n")
    }

    private static func counts(_ outcomes: [AutobahnOutcome]) -> [String] {
        func count(_ behaviors: AutobahnOutcome.Behavior...) -> Int {
            outcomes.count { behaviors.contains($0.behavior) }
        }
        let unclosed = outcomes.count { $0.closeBehavior != .ok && $0.closeBehavior != .informational }
        let counts = [
            outcomes.count, count(.ok), count(.nonStrict), count(.failed, .unimplemented),
            count(.informational),
            unclosed,
        ]
        return counts.map(String.init)
    }

    private static func line(_ name: String, _ columns: [String]) -> String {
        let padding = String(repeating: " ", count: max(0, 26 - name.count))
        let padded = columns.map { String(repeating: " ", count: max(0, 14 - $0.count)) + $0 }
        return name + padding + padded.joined()
    }
}
