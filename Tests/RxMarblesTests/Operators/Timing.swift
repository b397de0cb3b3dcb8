import RxLite

/// What depends on time.
enum Timing {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        let clock = use.clock
        switch use.name {
        case "delay":
            if case .date(let time) = use[0] {
                return source.flatMap { value in
                    Observable<Void, RecordedError>.timer(.milliseconds(time) - clock.now, on: clock).map {
                        value
                    }
                }
            }
            return source.delay(try use.duration(0), on: clock)
        case "delayWhen":
            return try delayWhen(source, use)
        case "timeout", "timeoutWith":
            return try timeout(source, use)
        case "observeOn":
            let stream = source.observe(on: clock)
            return use[1] == .undefined ? stream : stream.delay(try use.duration(1), on: clock)
        case "subscribeOn":
            return source.subscribe(on: clock)
        case "sample":
            return source.sample(by: use.input(0))
        case "sampleTime":
            return source.sample(every: try use.duration(0), on: clock)
        case "debounceTime":
            return source.debounce(try use.duration(0), on: clock)
        case "throttleTime":
            return source.throttle(try use.duration(0), on: clock)
        case "bufferTime":
            guard use[1] == .null else {
                throw use.unsupported("overlapping buffers have no use in networking")
            }
            return source.buffer(count: try use.number(2), time: try use.duration(0), on: clock)
                .map { .array($0) }
        case "audit":
            let wait = try use.function(0)
            return audit(source) { value throws(RecordedError) in use.graph.input(try wait(value)) }
        case "auditTime":
            let wait = try use.duration(0)
            return audit(source) { _ in
                Observable<Void, RecordedError>.timer(wait, on: clock).map { .undefined }
            }
        case "debounce":
            return debounce(source, try use.function(0), use.graph)
        case "throttle":
            guard use[1] == .undefined else {
                throw use.unsupported("only windows that are a time have a value at their end")
            }
            return throttle(source, try use.function(0), use.graph)
        default:
            return nil
        }
    }

    /// The latest value when the stream of the first value after the one before has sent something.
    private static func audit(
        _ source: Stream, _ wait: @escaping @Sendable (Value) throws(RecordedError) -> Stream
    ) -> Stream {
        .deferred {
            let latest = State(Value.undefined)
            return source.handleEvents(onNext: { latest.value = $0 })
                .flatMap(.first) { value throws(RecordedError) in
                    try wait(value).take(1).map { _ in latest.value }
                }
        }
    }

    /// Each value when its stream has sent something before the next value came, or the source has finished.
    private static func debounce(_ source: Stream, _ wait: CallTable, _ graph: Graph) -> Stream {
        source.withEnd { source, end in
            source.flatMap(.latest) { value throws(RecordedError) in
                .merge([.concat([graph.input(try wait(value)), .never()]), end]).take(1).map { _ in value }
            }
        }
    }

    /// A value, and then none until its stream has sent something or ended.
    private static func throttle(_ source: Stream, _ wait: CallTable, _ graph: Graph) -> Stream {
        source.withEnd { source, end in
            source.flatMap(.first) { value throws(RecordedError) in
                .concat([.just(value), graph.input(try wait(value)).take(1).ignoreElements(as: Value.self)])
            }
            .take(until: end)
        }
    }

    private static func delayWhen(_ source: Stream, _ use: Operator) throws -> Stream {
        let wait = try use.function(0)
        let delayed = source.numbered().flatMap { numbered throws(RecordedError) in
            use.graph.input(try wait(numbered.value, numbered.index)).take(1).map { _ in numbered.value }
        }
        return use[1] == .undefined
            ? delayed : .concat([use.input(1).take(1).filter { _ in false }, delayed])
    }

    /// A limit for each value, for the first, or a moment for the first; and what follows when it has passed.
    private static func timeout(_ source: Stream, _ use: Operator) throws -> Stream {
        let clock = use.clock
        let members: [String: Value] =
            if case .object(let members) = use[0] { members } else { ["each": use[0]] }
        let first = members["first"] ?? .undefined
        let phase: TimeoutPhase = first == .undefined ? .nextValue : .firstValue
        let limited: Stream
        if case .date(let time) = first {
            limited = .deferred {
                source.timeout(.milliseconds(time) - clock.now, until: phase, on: clock) { .timeout }
            }
        } else {
            let limit = try use.duration(first == .undefined ? members["each"] ?? .undefined : first)
            limited = source.timeout(limit, until: phase, on: clock) { .timeout }
        }
        guard use.name == "timeoutWith" || members["with"] != nil else { return limited }
        let with = use.lambda(members["with"] ?? .undefined)
        return limited.catch { error in
            guard error == .timeout else { return .fail(error) }
            return .deferred { () throws(RecordedError) in
                use.graph.input(try with?(.opaque) ?? use[1])
            }
        }
    }
}

extension Observable<Value, RecordedError> {
    /// What `make` makes of the stream and one that sends when it has finished, in one subscription.
    fileprivate func withEnd(_ make: @escaping @Sendable (Stream, _ end: Stream) -> Stream) -> Stream {
        .deferred {
            let shared = share()
            let end = Stream.concat([shared.ignoreElements(as: Value.self), .just(true)])
            return make(shared, end.catch { _ in .never() })
        }
    }
}
