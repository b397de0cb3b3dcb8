import RxTesting
import Testing

/// The content of one line of a ```marbles block: an operator, its sources, and the result.
struct Diagram: Sendable, CustomTestStringConvertible {
    /// The line's name.
    let operation: String
    let sources: [String]
    let result: String
    /// The meaning of the result's letters, unless they mean themselves.
    let legend: [Character: String]

    var testDescription: String { "\(operation)  \(result)" }

    /// The length of the diagram, which limits a stream without an end.
    var length: Duration {
        result.contains { $0 == "|" || $0 == "#" } ? .seconds(1) : .milliseconds(result.count - 1)
    }

    /// The diagrams of a page. Sources have no name, or one that ends in a colon, and belong to all lines up
    /// to the next empty one.
    static func diagrams(in page: [Substring]) -> [Diagram] {
        var diagrams: [Diagram] = []
        var sources: [String] = []
        var isInside = false
        for line in page {
            guard !line.hasPrefix("```") else {
                isInside = line == "```marbles"
                sources = []
                continue
            }
            guard isInside else { continue }
            let columns = columns(of: line)
            switch columns.count {
            case ...1: sources = []
            case _ where columns[0].isEmpty || columns[0].hasSuffix(":"): sources.append(columns[1])
            default:
                diagrams.append(
                    Diagram(
                        operation: columns[0], sources: sources, result: columns[1],
                        legend: legend(of: columns.dropFirst(2))))
            }
        }
        return diagrams
    }

    /// The parts that are separated by two or more spaces.
    private static func columns(of line: Substring) -> [String] {
        line.replacing(#/ {2,}/#, with: "\t").split(separator: "\t", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// Reads `A = ab`.
    private static func legend(of entries: some Collection<String>) -> [Character: String] {
        var legend: [Character: String] = [:]
        for entry in entries where entry.dropFirst().hasPrefix(" =") {
            legend[entry.first ?? " "] = entry.dropFirst(3).trimmingPrefix(" ").description
        }
        return legend
    }
}
