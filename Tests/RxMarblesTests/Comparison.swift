import RxLite
import RxTesting
import Synchronization

/// Runs a case and compares its events with the recorded ones.
struct Comparison {
    /// The outcome of a case.
    enum Verdict {
        case passed
        case failed([String])
        case unsupported(operation: String, reason: String)
    }

    /// Runs a case. A problem fails only this case.
    static func verdict(on recording: Recording) -> Verdict {
        let clock = VirtualScheduler()
        // Before the graph is made, as in RxJS: at one instant the test comes before the sources.
        let subscribers = recording.expectations.map { Subscriber(to: $0, on: clock) }
        let graph: Graph
        do {
            graph = try Graph(recording, on: clock)
        } catch let absence as Unsupported {
            return .unsupported(operation: absence.operation, reason: absence.reason)
        } catch {
            return .failed(["\(error)"])
        }
        for subscriber in subscribers {
            subscriber.stream.withLock { $0 = graph.input(subscriber.expectation.of) }
        }
        var problems: [String] = []
        do { try clock.run() } catch { problems.append("\(error)") }
        for subscriber in subscribers { problems += subscriber.problems }
        for subscriptions in recording.subscriptions {
            let frames = subscriptions.frames
            let actual = graph.spans(of: subscriptions.node)
                .map { [$0.start.milliseconds, $0.end?.milliseconds] }
            if actual != frames {
                problems.append(
                    "source \(subscriptions.node)\n  expected \(text(frames))\n  actual   \(text(actual))")
            }
        }
        for subscriber in subscribers { subscriber.stream.withLock { $0 = nil } }
        graph.close()
        if let gap = graph.journal.gap { return .unsupported(operation: "the recording", reason: gap) }
        problems += graph.journal.problems
        return problems.isEmpty ? .passed : .failed(problems)
    }

    private static func text(_ frames: [[Double?]]) -> String {
        frames.map { $0.map { $0.map { "\($0)" } ?? "…" }.joined(separator: " to ") }.joined(separator: ", ")
    }
}

/// One subscription of a case.
private final class Subscriber: Sendable {
    let expectation: Recording.Expectation
    let stream = Mutex<Stream?>(nil)
    private let recorder = Mutex<Recorder<Value, RecordedError>?>(nil)
    private let start: Duration

    init(to expectation: Recording.Expectation, on clock: VirtualScheduler) {
        self.expectation = expectation
        start = .milliseconds(expectation.subscription?.sub ?? 0)
        _ = clock.schedule(after: start) {
            guard let stream = self.stream.withLock({ $0 }) else { return }
            let recorder = Recorder(stream, on: clock)
            self.recorder.withLock { $0 = recorder }
        }
        guard let end = expectation.subscription?.unsub else { return }
        _ = clock.schedule(after: .milliseconds(end)) { self.recorder.withLock { $0 }?.cancel() }
    }

    var problems: [String] {
        let actual = (recorder.withLock { $0 }?.events ?? []).map { Recording.Event($0, offset: start) }
        let expected = expectation.events
        if actual.count == expected.count && zip(actual, expected).allSatisfy({ $0.matches($1) }) {
            return []
        }
        return ["stream \(expectation.of)\n  expected \(expected)\n  actual   \(actual)"]
    }
}

extension Recording.Event: CustomStringConvertible {
    init(_ event: MarbleEvent<Value, RecordedError>) { self.init(event, offset: .zero) }

    fileprivate init(_ event: MarbleEvent<Value, RecordedError>, offset: Duration) {
        milliseconds = (offset + event.time).milliseconds
        switch event.kind {
        case .next(let value): kind = .next(value)
        case .end(.finished): kind = .finished
        case .end(.failed(let error)): kind = .failed(error.value)
        }
    }

    fileprivate func matches(_ other: Recording.Event) -> Bool {
        guard milliseconds == other.milliseconds else { return false }
        switch (kind, other.kind) {
        case (.next(let one), .next(let other)), (.failed(let one), .failed(let other)):
            return one.matches(other)
        default: return kind == other.kind
        }
    }

    var description: String {
        let what =
            switch kind {
            case .next(let value): "\(value)"
            case .failed(let value): "#\(value)"
            case .finished: "|"
            }
        return "\(milliseconds):\(what)"
    }
}

extension Duration {
    fileprivate var milliseconds: Double { self / .milliseconds(1) }
}
