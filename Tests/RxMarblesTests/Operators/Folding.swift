import RxLite

/// Operators that reduce all values to one.
enum Folding {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "reduce": return reduce(source, try use.function(0), from: use.has(1) ? use[1] : nil)
        case "count":
            return source.filtered(by: try use.optionalFunction(0)).reduce(0) { count, _ in count + 1 }
                .map { .number($0) }
        case "max": return extreme(of: source, 1, try use.optionalFunction(0))
        case "min": return extreme(of: source, -1, try use.optionalFunction(0))
        case "toArray": return source.collect().map { .array($0) }
        case "every":
            use.receiver(1)
            return every(source, try use.predicate(0))
        case "isEmpty": return source.take(1).map { _ in false }.ifEmpty(default: true)
        case "single": return single(source, try use.optionalFunction(0))
        case "defaultIfEmpty": return source.ifEmpty(default: use[0])
        case "throwIfEmpty": return throwIfEmpty(source, try use.optionalFunction(0))
        case "sequenceEqual":
            return SequenceComparison.stream(source, try use.input(0), by: try use.optionalFunction(1))
        default: return nil
        }
    }

    /// Without an initial value the first value takes its place.
    private static func reduce(_ source: Stream, _ combine: CallTable, from initial: Value?) -> Stream {
        source.numbered().reduce(initial) { result, numbered throws(RecordedError) in
            guard let result else { return numbered.value }
            return try combine(result, numbered.value, numbered.index)
        }
        .compactMap { $0 }
    }

    /// The greatest (`sign` 1) or least (-1) value, the last of equal ones.
    private static func extreme(of source: Stream, _ sign: Double, _ compare: CallTable?) -> Stream {
        source.reduce(Value?.none) { best, value throws(RecordedError) in
            guard let best else { return value }
            guard let compare else {
                let isBetter = sign > 0 ? value.isLess(than: best) : best.isLess(than: value)
                return isBetter ? best : value
            }
            return try compare(best, value).numeric * sign > 0 ? best : value
        }
        .compactMap { $0 }
    }

    private static func every(
        _ source: Stream, _ holds: @escaping @Sendable (Numbered) throws(RecordedError) -> Bool
    ) -> Stream {
        source.numbered().filter { numbered throws(RecordedError) in try !holds(numbered) }
            .take(1).map { _ in false }.ifEmpty(default: true)
    }

    private static func single(_ source: Stream, _ predicate: CallTable?) -> Stream {
        .deferred {
            let hasValues = MutableProperty(false)
            return source.handleEvents(onNext: { _ in hasValues.value = true })
                .filtered(by: predicate).numbered()
                .map { numbered throws(RecordedError) in
                    if numbered.index != .number(0) { throw .tooMany }
                    return numbered.value
                }
                .last()
                .ifEmpty(switchTo: .deferred { .fail(hasValues.value ? .notFound : .empty) })
        }
    }

    private static func throwIfEmpty(_ source: Stream, _ make: CallTable?) -> Stream {
        source.ifEmpty(
            switchTo: .deferred { () throws(RecordedError) in
                .fail(try make.map { make throws(RecordedError) in RecordedError(try make()) } ?? .empty)
            })
    }
}
