import FoundationEssentials
import Testing

/// RxLite's operators against the marble cases of RxJS 7's own tests.
@Suite(
    .enabled(
        if: Recording.exists,
        "no recordings: there is no file \(Recording.file.path); RX_MARBLES can name another"))
struct RecordedMarbles {
    /// The minimum share of all cases that RxLite's operators can express.
    private static let minApplicable = 0.9
    /// The minimum share of the applicable cases that pass.
    private static let minPassed = 0.99

    @Test func casesPass() throws {
        let report = Report(on: try Recording.all())
        print(report)
        for failure in report.failures {
            Issue.record("\(failure.title)\n\(failure.problems.joined(separator: "\n"))")
        }
        #expect(report.applicablePart >= Self.minApplicable)
        #expect(report.passedPart >= Self.minPassed)
    }

    /// Every passing case fails when its last expected event is expected a millisecond later.
    @Test func comparisonNoticesEvents() throws {
        for recording in try Self.passing() {
            #expect(!Comparison.verdict(on: recording.expectingLater).isPassed, "\(recording.title)")
        }
    }

    /// Every passing case fails when a source is expected to have had one more subscriber.
    @Test func comparisonNoticesSubscriptions() throws {
        for recording in try Self.passing() {
            guard let changed = recording.expectingSubscriber else { continue }
            #expect(!Comparison.verdict(on: changed).isPassed, "\(recording.title)")
        }
    }

    private static func passing() throws -> [Recording] {
        try Recording.all().compactMap { try? $0.get() }.filter { Comparison.verdict(on: $0).isPassed }
    }
}

extension Comparison.Verdict {
    var isPassed: Bool { if case .passed = self { true } else { false } }
}

extension Recording {
    fileprivate var expectingLater: Recording {
        var copy = self
        var events = copy.expectations[0].events
        let last = events.popLast() ?? Event(milliseconds: 0, kind: .finished)
        events.append(Event(milliseconds: last.milliseconds + 1, kind: last.kind))
        copy.expectations[0].events = events
        return copy
    }

    fileprivate var expectingSubscriber: Recording? {
        guard !subscriptions.isEmpty else { return nil }
        var copy = self
        copy.subscriptions[0].frames.append([0, nil])
        return copy
    }
}
