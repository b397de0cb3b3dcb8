import RxLite

/// Operators that pass some of the values.
enum Filtering {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "filter":
            use.receiver(1)
            return source.filtered(by: try use.function(0))
        case "ignoreElements": return source.ignoreElements(as: Value.self)
        case "take": return source.take(try use.number(0))
        case "takeWhile":
            return source.numbered().take(while: try use.predicate(0), inclusive: use[1].isTrue).map(\.value)
        case "takeUntil": return source.take(until: try use.input(0))
        case "takeLast": return source.takeLast(try use.number(0))
        case "skip": return source.skip(try use.number(0))
        case "skipWhile": return source.numbered().skip(while: try use.predicate(0)).map(\.value)
        case "skipUntil": return source.skip(until: try use.input(0))
        case "skipLast": return butLast(try use.number(0), of: source)
        case "first":
            return source.filtered(by: try use.optionalFunction(0)).take(1)
                .ifEmpty(switchTo: use.fallback(or: .empty))
        case "last":
            return source.filtered(by: try use.optionalFunction(0)).last()
                .ifEmpty(switchTo: use.fallback(or: .empty))
        case "elementAt":
            return source.skip(try use.number(0)).take(1).ifEmpty(switchTo: use.fallback(or: .outOfRange))
        case "find":
            use.receiver(1)
            return source.filtered(by: try use.function(0)).take(1).ifEmpty(default: .undefined)
        case "findIndex":
            use.receiver(1)
            return source.numbered().filter(try use.predicate(0)).map(\.index).take(1)
                .ifEmpty(default: .number(-1))
        case "distinct": return try distinct(source, use)
        case "distinctUntilChanged": return try distinctUntilChanged(source, use)
        case "distinctUntilKeyChanged": return try distinctUntilKeyChanged(source, use)
        default: return nil
        }
    }

    private static func butLast(_ count: Int, of source: Stream) -> Stream {
        guard count > 0 else { return source }
        return source.scan([]) { held, value in (held + [value]).suffix(count + 1) }
            .compactMap { held in held.count > count ? held.first : nil }
    }

    /// The seen keys are forgotten whenever a stream sends.
    private static func distinct(_ source: Stream, _ use: Operator) throws -> Stream {
        let key = try use.optionalFunction(0)
        let flushes: Stream = use[1] == .undefined || use[1] == .null ? .empty() : try use.input(1)
        let ages = flushes.scan(0) { age, _ in age + 1 }.startWith(0)
        return source.withLatestFrom(ages) { (value: $0, age: $1) }
            .scan((seen: Set<Value>(), age: 0, fresh: Value?.none)) { before, next throws(RecordedError) in
                var seen = before.age == next.age ? before.seen : []
                let isFresh = seen.insert(try key?(next.value) ?? next.value).inserted
                return (seen, next.age, isFresh ? next.value : nil)
            }
            .compactMap(\.fresh)
    }

    private static func distinctUntilChanged(_ source: Stream, _ use: Operator) throws -> Stream {
        let areEqual = try use.optionalFunction(0)
        let key = try use.optionalFunction(1)
        return source.map { value throws(RecordedError) in (key: try key?(value) ?? value, value: value) }
            .distinctUntilChanged { before, next throws(RecordedError) in
                try areEqual?(before.key, next.key).isTrue ?? (before.key == next.key)
            }
            .map(\.value)
    }

    private static func distinctUntilKeyChanged(_ source: Stream, _ use: Operator) throws -> Stream {
        let key = use[0]
        let areEqual = try use.optionalFunction(1)
        return source.distinctUntilChanged { before, next throws(RecordedError) in
            let (before, next) = (before.member(key), next.member(key))
            return try areEqual?(before, next).isTrue ?? (before == next)
        }
    }
}

extension Operator {
    /// The default value if one is given after the first argument, else an error.
    fileprivate func fallback(or error: RecordedError) -> Stream {
        has(1) ? .just(self[1]) : .fail(error)
    }
}
