/// What became of all cases.
struct Report {
    private(set) var passed = 0
    private(set) var failures: [(title: String, problems: [String])] = []
    /// The titles of cases that differ by contract.
    private(set) var differing: [String] = []
    /// The titles of cases that are listed as differing and passed.
    private(set) var settled: [String] = []
    private var notApplicable: [String: Int] = [:]

    init(on recordings: [Recording]) throws {
        for recording in recordings {
            let isListed = Difference.contracts[recording.title] != nil
            switch try Comparison.verdict(on: recording) {
            case .passed:
                passed += 1
                if isListed { settled.append(recording.title) }
            case .failed where isListed: differing.append(recording.title)
            case .failed(let problems): failures.append((recording.title, problems))
            case .unsupported(let operation, let reason):
                notApplicable["\(operation): \(reason)", default: 0] += 1
            }
        }
    }

    /// Which part of all cases RxLite can express.
    var applicablePart: Double { Double(applicable) / Double(applicable + left) }

    /// Which part of those passes.
    var passedPart: Double { Double(passed) / Double(applicable) }

    private var applicable: Int { passed + failures.count + differing.count }
    private var left: Int { notApplicable.values.reduce(0, +) }
}

extension Report: CustomStringConvertible {
    var description: String {
        let counts = """
            applicable \(applicable), passed \(passed), failed \(failures.count), \
            differing by contract \(differing.count), not applicable \(left)
            """
        let reasons = notApplicable.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return
            ([counts] + failures.map { "failed: \($0.title)" }
            + differing.map { "differs: \($0): \(Difference.contracts[$0] ?? "")" }
            + reasons.map { "not applicable: \($0.value) of \($0.key)" }).joined(separator: "\n")
    }
}
