import RxLite

/// One recorded use of an operator or creator.
struct Operator: Sendable {
    let name: String
    let arguments: [Value]
    let graph: Graph

    init(_ name: String, _ arguments: [Value], in graph: Graph) {
        self.name = name
        self.arguments = arguments
        self.graph = graph
    }

    /// The stream with the operator on it.
    func applied(to source: Stream) throws -> Stream {
        if let reason = Absence.reasons[name] { throw Unsupported(operation: name, reason: reason) }
        for family in Self.families {
            if let stream = try family(self, source) { return stream }
        }
        throw UnknownOperator(name: name)
    }

    /// Each knows some operators, and returns `nil` for others.
    private static let families: [@Sendable (Operator, Stream) throws -> Stream?] = [
        Transforming.stream, Filtering.stream, Folding.stream, Flattening.stream, Combining.stream,
        Timing.stream,
        Recovering.stream,
    ]

    /// Keeps the virtual time.
    var clock: any Scheduler { graph.clock }

    subscript(index: Int) -> Value { arguments.indices.contains(index) ? arguments[index] : .undefined }

    /// The lambda that an argument, or a member of it, refers to; `nil` where there is none.
    func lambda(_ value: Value) -> CallTable? {
        guard case .function(let index) = value else { return nil }
        return graph.functions[index]
    }

    func function(_ index: Int) throws -> CallTable {
        guard let function = lambda(self[index]) else {
            throw unsupported("argument \(index) is no function")
        }
        return function
    }

    func number(_ value: Value) throws -> Int {
        switch value {
        case .number(.infinity): return .max
        case .number(let number): return Int(number)
        default: throw unsupported("counts are numbers, not \(value)")
        }
    }

    func number(_ index: Int) throws -> Int { try number(self[index]) }

    func duration(_ value: Value) throws -> Duration {
        guard case .number(let milliseconds) = value, milliseconds.isFinite else {
            throw unsupported("\(value) is no duration")
        }
        return .milliseconds(milliseconds)
    }

    func duration(_ index: Int) throws -> Duration { try duration(self[index]) }

    func input(_ index: Int) -> Stream { graph.input(self[index]) }

    /// The arguments that are streams, whether they are given one by one, as one array, or as an object.
    var inputs: [Stream] { streams.map(graph.input) }

    private var streams: [Value] {
        let streams = arguments.filter { if case .array = $0 { true } else { $0.isStream } }
        if case .array(let values) = streams.first, streams.count == 1, !values.isEmpty,
            values.allSatisfy(\.isStream)
        {
            return values
        }
        return streams
    }

    func unsupported(_ reason: String) -> Unsupported { Unsupported(operation: name, reason: reason) }
}

/// An operator that is neither in the table nor left out on purpose.
struct UnknownOperator: Error {
    let name: String
}

extension Value {
    var isStream: Bool {
        switch self {
        case .node, .constant: true
        default: false
        }
    }
}

/// A value and its place in the stream.
struct Numbered: Sendable {
    let index: Value
    let value: Value
}

extension Observable<Value, RecordedError> {
    /// Each value with its index.
    func numbered() -> Observable<Numbered, RecordedError> {
        scan((-1, Value.undefined)) { ($0.0 + 1, $1) }.map { Numbered(index: .number($0.0), value: $0.1) }
    }

    /// The values for which `predicate` holds; all, if there is none.
    func filtered(by predicate: CallTable?) -> Stream {
        guard let predicate else { return self }
        return numbered().filter { numbered throws(RecordedError) in
            try predicate(numbered.value, numbered.index, .opaque).isTrue
        }
        .map(\.value)
    }
}
