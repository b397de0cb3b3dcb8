import RxLite

/// What depends on time.
enum Timing {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        let clock = use.clock
        switch use.name {
        case "delay":
            if case .date(let time) = use[0] {
                return .deferred { source.delay(max(.milliseconds(time) - clock.now, .zero), on: clock) }
            }
            return source.delay(try use.duration(0), on: clock)
        case "delayWhen":
            return try delayWhen(source, use)
        case "timeout", "timeoutWith":
            return try timeout(source, use)
        case "observeOn":
            let stream = source.observe(on: clock)
            return use[1] == .undefined ? stream : stream.delay(try use.duration(1), on: clock)
        default:
            return nil
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
