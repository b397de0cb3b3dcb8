import RxTesting
import Testing

/// A case for a form of arguments that the recordings lack, in their format, with the events that RxJS's
/// documentation of the operator asks for.
struct HeldOutCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    private let recording: Recording

    /// Describes a case.
    ///
    /// - Parameters:
    ///   - nodes: the last one is the stream that is subscribed to.
    ///   - functions: the lambdas, each as its calls.
    ///   - expected: the diagram of the expected events.
    ///   - values: the meaning of letters in `expected`. Other letters mean themselves.
    ///   - error: the meaning of `#` in `expected`.
    ///   - end: the end of the subscription, in milliseconds.
    ///   - subscriptions: the start and end of each source's subscriptions.
    init(
        _ name: String, _ nodes: [Recording.Node], _ functions: [[Recording.Function.Call]] = [],
        gives expected: String, values: [Character: Value] = [:], error: Value = "error",
        until end: Double? = nil, subscriptions: [Int: [[Double?]]] = [:]
    ) {
        testDescription = name
        recording = Recording(
            file: "held out", name: name, nodes: nodes, functions: functions.map { .init(calls: $0) },
            expectations: [
                .init(
                    of: .node(nodes.count - 1), subscription: end.map { .init(sub: 0, unsub: $0) },
                    events: .diagram(expected, values, error))
            ],
            subscriptions: subscriptions.map { .init(node: $0.key, frames: $0.value) })
    }

    var verdict: Comparison.Verdict { Comparison.verdict(on: recording) }

    func check() {
        switch verdict {
        case .passed: break
        case .failed(let problems): Issue.record("\(problems.joined(separator: "\n"))")
        case .unsupported(_, let reason): Issue.record("not applicable: \(reason)")
        }
    }
}

extension Recording.Node {
    static func hot(
        _ marbles: String, _ values: [Character: Value] = [:], error: Value = "error"
    ) -> Recording.Node {
        .source(isHot: true, events: .diagram(marbles, values, error))
    }

    static func cold(
        _ marbles: String, _ values: [Character: Value] = [:], error: Value = "error"
    ) -> Recording.Node {
        .source(isHot: false, events: .diagram(marbles, values, error))
    }

    static func create(_ name: String, _ arguments: Value...) -> Recording.Node { .created(name, arguments) }

    static func pipe(_ source: Int, _ name: String, _ arguments: Value...) -> Recording.Node {
        .piped(source: source, [.init(op: name, args: arguments)])
    }
}

extension Recording.Function.Call {
    static func call(_ arguments: Value..., gives value: Value) -> Recording.Function.Call {
        .init(arguments: arguments, result: .success(value))
    }

    static func call(_ arguments: Value..., throws value: Value) -> Recording.Function.Call {
        .init(arguments: arguments, result: .failure(RecordedError(value)))
    }
}

extension [Recording.Event] {
    /// The events of a diagram, whose letters mean themselves by default.
    fileprivate static func diagram(
        _ marbles: String, _ values: [Character: Value], _ error: Value
    ) -> [Recording.Event] {
        let letters = "abcdefghijklmnopqrstuvwxyz0123456789".map { ($0, Value.string(String($0))) }
        let all = values.merging(letters) { given, _ in given }
        let clock = VirtualScheduler()
        do {
            let source: MarbleSource<Value, RecordedError> = try clock.cold(
                marbles, values: all, error: RecordedError(error))
            let recorder = Recorder(source.observable, on: clock)
            try clock.run()
            return recorder.events.map(Recording.Event.init)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
