import FoundationEssentials
import Testing

/// RxLite's operators against the marble cases of RxJS 7's own tests.
@Suite(
    .enabled(
        if: Recording.isThere,
        "there are no recordings at \(Recording.file.path): set RX_MARBLES to name the file"))
struct RecordedMarbles {
    @Test func everyApplicableCasePasses() throws {
        let recordings = try Recording.all()
        var passed = 0
        var failed: [String] = []
        var unsupported: [String: (count: Int, reason: String)] = [:]
        for recording in recordings {
            do {
                switch try Comparison.verdict(on: recording) {
                case .passed: passed += 1
                case .failed(let problems):
                    failed.append(recording.title)
                    print("FAILED", recording.title, problems.joined(separator: "\n"), separator: "\n")
                case .unsupported(let operation, let reason):
                    unsupported[operation, default: (0, reason)].count += 1
                }
            } catch let unknown as UnknownOperator {
                unsupported["?" + unknown.name, default: (0, "unknown")].count += 1
            }
        }
        for (operation, (count, reason)) in unsupported.sorted(by: { $0.value.count > $1.value.count }) {
            print("not applicable: \(count) × \(operation): \(reason)")
        }
        print("passed \(passed), failed \(failed.count) of \(recordings.count)")
    }
}
