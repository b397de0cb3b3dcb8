/// The outcome of all cases.
struct Report {
    private(set) var passed = 0
    private(set) var failures: [(title: String, problems: [String])] = []
    private var notApplicable: [String: Int] = [:]

    /// Runs all cases. An invalid or failing one affects no other.
    init(on recordings: [Result<Recording, any Error>]) {
        for (index, recording) in recordings.enumerated() {
            switch recording {
            case .success(let recording): add(Comparison.verdict(on: recording), recording.title)
            case .failure(let error): failures.append(("line \(index + 1)", ["\(error)"]))
            }
        }
    }

    private mutating func add(_ verdict: Comparison.Verdict, _ title: String) {
        switch verdict {
        case .passed: passed += 1
        case .failed(let problems): failures.append((title, problems))
        case .unsupported(let operation, let reason):
            notApplicable["\(operation): \(reason)", default: 0] += 1
        }
    }

    /// The share of all cases that RxLite can express.
    var applicablePart: Double { Double(applicable) / Double(applicable + left) }

    /// The share of those that pass.
    var passedPart: Double { Double(passed) / Double(applicable) }

    private var applicable: Int { passed + failures.count }
    private var left: Int { notApplicable.values.reduce(0, +) }
}

extension Report: CustomStringConvertible {
    var description: String {
        let counts =
            "applicable \(applicable), passed \(passed), failed \(failures.count), not applicable \(left)"
        let reasons = notApplicable.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return
            ([counts] + failures.map { "failed: \($0.title)" }
            + reasons.map { "not applicable: \($0.value) of \($0.key)" }).joined(separator: "\n")
    }
}
