import RxLite
import RxTesting
import Synchronization

typealias Stream = Observable<Value, RecordedError>

/// The streams of one case, made of RxLite's operators, in virtual time.
final class Graph: Sendable {
    let clock: VirtualScheduler
    let journal = Journal()
    let functions: [CallTable]
    private let sources: [Int: MarbleSource<Value, RecordedError>]
    private let streams: Mutex<[Int: Stream]>

    /// Creates the streams. The time of hot sources starts now.
    ///
    /// - Throws: ``Unsupported`` if RxLite lacks the feature under test.
    init(_ recording: Recording, on clock: VirtualScheduler) throws {
        self.clock = clock
        let journal = journal
        functions = recording.functions.enumerated().map { number, function in
            CallTable(function, number: number, journal: journal)
        }
        var sources: [Int: MarbleSource<Value, RecordedError>] = [:]
        for (index, node) in recording.nodes.enumerated() {
            guard case .source(let isHot, let events) = node else { continue }
            sources[index] = Self.source(events, isHot: isHot, on: clock)
        }
        self.sources = sources
        streams = Mutex(sources.mapValues(\.observable))
        for index in recording.nodes.indices { try build(index, of: recording) }
    }

    /// The stream of a node.
    func stream(_ index: Int) -> Stream {
        streams.withLock { $0[index] } ?? failing("there is no stream \(index)")
    }

    /// The result of a lambda, or a value of a source, as the stream that it represents.
    func input(_ value: Value) -> Stream {
        switch value {
        case .node(let index): stream(index)
        case .array(let values): .sequence(values)
        case .string(let text): .sequence(text.map { .string(String($0)) })
        case .constant("EMPTY"): .empty()
        case .constant("NEVER"): .never()
        case .opaque, .object, .function, .operation, .scheduler, .constant:
            unknown(value)
        default: .fail(.noStream(value))
        }
    }

    /// The start and end of each subscription to a source.
    func spans(of index: Int) -> [SubscriptionSpan] { sources[index]?.subscriptions ?? [] }

    /// Releases the streams, which refer to the graph, and records the calls that were not made.
    func close() {
        streams.withLock { $0 = [:] }
        for function in functions { function.close() }
    }

    private func failing(_ problem: String) -> Stream {
        journal.note(problem)
        return .fail(RecordedError(.string(problem)))
    }

    private func unknown(_ value: Value) -> Stream {
        journal.note(gap: "it does not say which stream \(value) is")
        return .never()
    }

    private func build(_ index: Int, of recording: Recording) throws {
        let stream: Stream
        switch recording.nodes[index] {
        case .source: return
        case .created(let name, let arguments):
            stream = try Operator(name, arguments, in: self).created()
        case .piped(let source, let operations):
            stream = try operations.reduce(self.stream(source)) { stream, operation in
                try Operator(operation.op, operation.args, in: self).applied(to: stream)
            }
        }
        streams.withLock { $0[index] = stream }
    }

    private static func source(
        _ events: [Recording.Event], isHot: Bool, on clock: VirtualScheduler
    ) -> MarbleSource<Value, RecordedError> {
        let events = events.map { event in
            let kind: StreamEvent<Value, RecordedError> =
                switch event.kind {
                case .next(let value): .next(value)
                case .failed(let value): .end(.failed(RecordedError(value)))
                case .finished: .end(.finished)
                }
            return MarbleEvent(time: .milliseconds(event.milliseconds), kind: kind)
        }
        return isHot ? clock.hot(events) : clock.cold(events)
    }
}

/// RxLite lacks a feature that a case requires.
struct Unsupported: Error {
    let operation: String
    let reason: String
}
