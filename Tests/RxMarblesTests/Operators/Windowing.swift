import RxLite

/// Operators whose windows are controlled by streams made of values, or by other streams.
enum Windowing {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        let graph = use.graph
        switch use.name {
        case "audit":
            let wait = try use.function(0)
            return audit(source) { value throws(RecordedError) in graph.input(try wait(value)) }
        case "auditTime":
            try use.scheduler(1)
            let (wait, clock) = (try use.duration(0), use.clock)
            return audit(source) { _ in
                Observable<Void, RecordedError>.timer(wait, on: clock).map { .undefined }
            }
        case "debounce":
            return debounce(source, try use.function(0), graph)
        case "throttle":
            return try Throttle(use).stream(of: source)
        case "buffer":
            return source.buffer(by: try use.input(0)).map { .array($0) }
        case "bufferTime":
            return try bufferTime(source, use)
        case "bufferToggle":
            let (openings, close) = (try use.input(0), try use.function(1))
            return source.withEnd { values, end in
                Stream.concat([openings, .never()]).take(until: end).flatMap {
                    opening throws(RecordedError) in
                    values.take(until: graph.input(try close(opening))).collect().map { .array($0) }
                }
            }
        case "bufferWhen":
            let close = try use.function(0)
            let closings = Stream.deferred { () throws(RecordedError) in graph.input(try close()) }
                .take(1).ifEmpty(switchTo: .never()).repeat()
            return source.buffer(by: closings).map { .array($0) }
        default:
            return nil
        }
    }

    /// The latest value when the stream of the first value after the previous one has sent.
    private static func audit(
        _ source: Stream, _ wait: @escaping @Sendable (Value) throws(RecordedError) -> Stream
    ) -> Stream {
        .deferred {
            let latest = MutableProperty(Value.undefined)
            return source.handleEvents(onNext: { latest.value = $0 })
                .flatMap(.first) { value throws(RecordedError) in
                    try wait(value).take(1).map { _ in latest.value }
                }
        }
    }

    /// Each value if its stream has sent before the next value, or before the end of the source.
    private static func debounce(_ source: Stream, _ wait: CallTable, _ graph: Graph) -> Stream {
        source.withEnd { values, end in
            values.flatMap(.latest) { value throws(RecordedError) in
                .merge([.concat([graph.input(try wait(value)), .never()]), end]).take(1).map { _ in value }
            }
        }
    }

    /// One list after the other, or one that begins at an interval and overlaps with previous ones.
    private static func bufferTime(_ source: Stream, _ use: Operator) throws -> Stream {
        let arguments = use.unscheduled
        let optional: (Int) -> Value? = { index in
            guard arguments.indices.contains(index) else { return nil }
            return arguments[index] == .undefined || arguments[index] == .null ? nil : arguments[index]
        }
        guard arguments.count <= 3 else { throw use.unsupported("too many arguments") }
        let clock = use.clock
        let time = try use.duration(optional(0) ?? .undefined)
        let count = try optional(2).map { try use.number($0) } ?? .max
        let every = try optional(1).map { try use.duration($0) }
        guard let every, every >= .zero else {
            return source.buffer(count: count, time: time, on: clock).map { .array($0) }
        }
        return source.withEnd { values, end in
            Observable<Int, RecordedError>.interval(every, on: clock).startWith(-1).take(until: end)
                .flatMap { _ in values.buffer(count: count, time: time, on: clock).take(1).map { .array($0) }
                }
        }
    }
}
