import RxLite

/// Operators that transform values.
enum Transforming {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        let clock = use.clock
        switch use.name {
        case "map":
            let transform = try use.function(0)
            use.receiver(1)
            return source.numbered().map { numbered throws(RecordedError) in
                try transform(numbered.value, numbered.index)
            }
        case "mapTo":
            let value = use[0]
            return source.map { _ in value }
        case "pluck":
            let path = use.rest().values
            guard !path.isEmpty else { throw use.unsupported("no member is named") }
            return source.map { value in path.reduce(value) { $0.member($1) } }
        case "scan":
            return scan(source, try use.function(0), from: use.has(1) ? use[1] : nil)
        case "pairwise":
            return source.pairwise().map { .array([$0.previous, $0.current]) }
        case "bufferCount":
            let step: Int? = use[1] == .undefined || use[1] == .null ? nil : try use.number(1)
            return source.buffer(count: try use.number(0), every: step).map { .array($0) }
        case "materialize":
            return source.materialize().map { .init($0) }.setFailureType()
        case "dematerialize":
            return source.map(StreamEvent.init).dematerialize()
        case "expand":
            return try expand(source, use)
        case "timestamp":
            try use.scheduler(0)
            return source.map { .object(["value": $0, "timestamp": milliseconds(clock.now)]) }
        case "timeInterval":
            try use.scheduler(0)
            return .deferred {
                source.scan((last: clock.now, interval: Duration.zero, value: Value.undefined)) {
                    before, value in
                    (clock.now, clock.now - before.last, value)
                }
                .map { .object(["value": $0.value, "interval": milliseconds($0.interval)]) }
            }
        default:
            return nil
        }
    }

    private static func expand(_ source: Stream, _ use: Operator) throws -> Stream {
        let transform = try use.function(0)
        // Less than one means no limit here.
        let given = use[1] == .undefined || use[1] == .null ? 0 : try use.number(1)
        let limit = given < 1 ? Int.max : given
        if use[2] != .undefined && limit != .max {
            throw use.unsupported("streams are begun at once, not by a scheduler")
        }
        return .deferred {
            let count = MutableProperty(0)
            return source.expand(limit: limit) { value throws(RecordedError) in
                defer { count.update { $0 += 1 } }
                return use.graph.input(try transform(value, .number(count.value)))
            }
        }
    }

    /// Every running result; without a seed the first value is the first of them.
    private static func scan(_ source: Stream, _ combine: CallTable, from seed: Value?) -> Stream {
        source.numbered().scan(seed) { result, numbered throws(RecordedError) in
            guard let result else { return numbered.value }
            return try combine(result, numbered.value, numbered.index)
        }
        .compactMap { $0 }
    }

    private static func milliseconds(_ duration: Duration) -> Value { .number(duration / .milliseconds(1)) }
}

extension Value {
    /// A notification of RxJS.
    init(_ event: StreamEvent<Value, RecordedError>) {
        switch event {
        case .next(let value): self = .object(["kind": "N", "value": value])
        case .end(.failed(let error)): self = .object(["kind": "E", "error": error.value])
        case .end(.finished): self = .object(["kind": "C"])
        }
    }
}

extension StreamEvent<Value, RecordedError> {
    /// The event of an RxJS notification; the end for any other value.
    init(_ notification: Value) {
        switch notification["kind"] {
        case "N": self = .next(notification["value"])
        case "E": self = .end(.failed(RecordedError(notification["error"])))
        default: self = .end(.finished)
        }
    }
}
