import RxLite

/// Operators that start a stream for each value.
enum Flattening {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "mergeMap", "flatMap":
            let (select, limit) = try selection(use)
            return try flatMap(source, .merging(limit), use, select)
        case "mergeMapTo":
            let (select, limit) = try selection(use)
            return try flatMapTo(source, .merging(limit), use, select)
        case "concatMap": return try flatMap(source, .concat, use, try use.optionalFunction(1))
        case "concatMapTo": return try flatMapTo(source, .concat, use, try use.optionalFunction(1))
        case "switchMap": return try flatMap(source, .latest, use, try use.optionalFunction(1))
        case "switchMapTo": return try flatMapTo(source, .latest, use, try use.optionalFunction(1))
        case "exhaustMap": return try flatMap(source, .first, use, try use.optionalFunction(1))
        case "mergeAll": return source.flatMap(.merging(try use.limit(use[0]))) { use.graph.input($0) }
        case "concatAll": return source.flatMap(.concat) { use.graph.input($0) }
        case "switchAll": return source.flatMap(.latest) { use.graph.input($0) }
        case "exhaustAll", "exhaust": return source.flatMap(.first) { use.graph.input($0) }
        case "mergeScan": return try flatScan(source, .merging(try use.limit(use[2])), use)
        case "switchScan": return try flatScan(source, .latest, use)
        default: return nil
        }
    }

    /// The arguments after the first: a lambda that combines outer and inner values, then a limit; or the
    /// limit alone.
    private static func selection(_ use: Operator) throws -> (select: CallTable?, limit: Int?) {
        if case .number = use[1] { return (nil, try use.limit(use[1])) }
        return (try use.optionalFunction(1), try use.limit(use[2]))
    }

    private static func flatMap(
        _ source: Stream, _ strategy: FlattenStrategy, _ use: Operator, _ select: CallTable?
    ) throws -> Stream {
        let transform = try use.function(0)
        return started(by: source, strategy, select) { value, index throws(RecordedError) in
            use.graph.input(try transform(value, index))
        }
    }

    private static func flatMapTo(
        _ source: Stream, _ strategy: FlattenStrategy, _ use: Operator, _ select: CallTable?
    ) throws -> Stream {
        let inner = try use.input(0)
        return started(by: source, strategy, select) { _, _ in inner }
    }

    /// The index counts the streams started, not the values received.
    private static func started(
        by source: Stream, _ strategy: FlattenStrategy, _ select: CallTable?,
        _ make: @escaping @Sendable (Value, _ index: Value) throws(RecordedError) -> Stream
    ) -> Stream {
        .deferred {
            let count = MutableProperty(0)
            return source.flatMap(strategy) { value throws(RecordedError) in
                let index = Value.number(count.value)
                count.update { $0 += 1 }
                let inner = try make(value, index)
                guard let select else { return inner }
                return inner.numbered().map { numbered throws(RecordedError) in
                    try select(value, numbered.value, index, numbered.index)
                }
            }
        }
    }

    /// Each inner value starts the next stream.
    private static func flatScan(
        _ source: Stream, _ strategy: FlattenStrategy, _ use: Operator
    ) throws -> Stream {
        let combine = try use.function(0)
        let seed = use[1]
        return .deferred {
            let result = MutableProperty(seed)
            return source.numbered().flatMap(strategy) { numbered throws(RecordedError) in
                use.graph.input(try combine(result.value, numbered.value, numbered.index))
                    .handleEvents(onNext: { result.value = $0 })
            }
        }
    }
}

extension FlattenStrategy {
    /// In parallel, up to the limit if there is one.
    static func merging(_ limit: Int?) -> FlattenStrategy { limit.map { .merge(limit: $0) } ?? .merge }
}
