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

    /// Makes the streams. The time of hot sources begins now.
    ///
    /// - Throws: ``Unsupported`` where RxLite does not have what the case is about.
    init(_ recording: Recording, on clock: VirtualScheduler) throws {
        self.clock = clock
        let journal = journal
        functions = recording.functions.enumerated().map { number, function in
            CallTable(function, number: number, journal: journal)
        }
        var sources: [Int: MarbleSource<Value, RecordedError>] = [:]
        for (index, node) in recording.nodes.enumerated() {
            guard case .source(let isHot, let marbles, let events) = node else { continue }
            sources[index] = try Self.source(marbles, events, isHot: isHot, on: clock)
        }
        self.sources = sources
        streams = Mutex(sources.mapValues(\.observable))
        for index in recording.nodes.indices { try build(index, of: recording) }
    }

    /// The stream of a node.
    func stream(_ index: Int) -> Stream {
        streams.withLock { $0[index] } ?? failing("there is no stream \(index)")
    }

    /// What a lambda returned, or a source sent, as the stream that it stands for.
    func input(_ value: Value) -> Stream {
        switch value {
        case .node(let index): stream(index)
        case .array(let values): .sequence(values)
        case .string(let text): .sequence(text.map { .string(String($0)) })
        case .constant("EMPTY"): .empty()
        case .constant("NEVER"): .never()
        default: failing("\(value) is no stream")
        }
    }

    /// From when to when each subscriber of a source was there.
    func spans(of index: Int) -> [SubscriptionSpan] { sources[index]?.subscriptions ?? [] }

    /// Lets go of the streams, which refer to the graph, and notes the calls that were not made.
    func close() {
        streams.withLock { $0 = [:] }
        for function in functions { function.close() }
    }

    private func failing(_ problem: String) -> Stream {
        journal.note(problem)
        return .fail(RecordedError(.string(problem)))
    }

    private func build(_ index: Int, of recording: Recording) throws {
        let stream: Stream
        switch recording.nodes[index] {
        case .source: return
        case .created(let name, let arguments):
            stream = try Creating.stream(Operator(name, arguments, in: self))
        case .piped(let source, let operations):
            stream = try operations.reduce(self.stream(source)) { stream, operation in
                try Operator(operation.op, operation.args, in: self).applied(to: stream)
            }
        }
        streams.withLock { $0[index] = stream }
    }

    private static func source(
        _ marbles: String, _ events: [Recording.Event], isHot: Bool, on clock: VirtualScheduler
    ) throws -> MarbleSource<Value, RecordedError> {
        var sent: [Value] = []
        var error: RecordedError?
        for event in events {
            switch event.kind {
            case .next(let value): sent.append(value)
            case .failed(let value): error = RecordedError(value)
            case .finished: break
            }
        }
        let values = Dictionary(zip(letters(of: marbles), sent)) { first, _ in first }
        return try isHot
            ? clock.hot(marbles, values: values, error: error)
            : clock.cold(marbles, values: values, error: error)
    }

    /// The values of a diagram in their order, times such as `10ms` left out.
    private static func letters(of marbles: String) -> [Character] {
        marbles.split(separator: " ").filter { $0.wholeMatch(of: /[0-9.]+(ms|s|m)/) == nil }.joined()
            .filter { $0.isLetter || $0.isNumber }
    }
}

/// RxLite does not have what a case asks for.
struct Unsupported: Error {
    let operation: String
    let reason: String
}
