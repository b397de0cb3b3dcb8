import RxLite

/// A limit for the first value, for each after it, or for both; and the continuation after it.
enum Limiting {
    static func stream(_ source: Stream, _ use: Operator) throws -> Stream {
        let (first, each, with) = try limits(use)
        let limited = try limited(source, use, first: first, each: each)
        guard let with else { return limited }
        return limited.catch { error in
            guard error == .timeout else { return .fail(error) }
            return .deferred(with)
        }
    }

    private typealias Replacement = @Sendable () throws(RecordedError) -> Stream

    private static func limits(
        _ use: Operator
    ) throws -> (first: Value, each: Value, with: Replacement?) {
        if use.name == "timeoutWith" {
            let other = try use.input(1)
            try use.scheduler(2)
            let (first, each) = firstAndEach(use[0])
            return (first, each, { other })
        }
        try use.scheduler(1)
        guard case .object = use[0] else {
            let (first, each) = firstAndEach(use[0])
            return (first, each, nil)
        }
        let options = try use.options(0, ["first", "each", "with", "scheduler", "meta"])
        guard let with = try use.optionalFunction(options["with"]) else {
            return (options["first"], options["each"], nil)
        }
        return (
            options["first"], options["each"],
            { () throws(RecordedError) in use.graph.input(try with(.opaque)) }
        )
    }

    /// A date applies to the first value, a duration to each.
    private static func firstAndEach(_ limit: Value) -> (first: Value, each: Value) {
        if case .date = limit { (limit, .undefined) } else { (.undefined, limit) }
    }

    private static func limited(
        _ source: Stream, _ use: Operator, first: Value, each: Value
    ) throws -> Stream {
        let clock = use.clock
        let isAbsent: (Value) -> Bool = { $0 == .undefined || $0 == .null }
        guard !isAbsent(first) else {
            return source.timeout(try use.duration(each), until: .nextValue, on: clock) { .timeout }
        }
        let wait = try use.wait(first)
        let inTime = Stream.deferred {
            source.timeout(wait(), until: .firstValue, on: clock) { .timeout }
        }
        guard !isAbsent(each) else { return inTime }
        let pause = try use.duration(each)
        return inTime.withEnd { values, end in
            values.flatMap(.latest) { value in
                let tooLate = Observable<Void, RecordedError>.timer(pause, on: clock)
                    .map { () throws(RecordedError) -> Value in throw .timeout }
                return .concat([.just(value), tooLate])
            }
            .take(until: end)
        }
    }
}
