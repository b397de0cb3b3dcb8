import RxLite

/// What starts a stream for each value.
enum Flattening {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "mergeMap": try flatMap(source, try merging(use, 1), use)
        case "concatMap": try flatMap(source, .concat, use)
        case "switchMap": try flatMap(source, .latest, use)
        case "exhaustMap": try flatMap(source, .first, use)
        case "mergeMapTo": source.flatMap(try merging(use, 1)) { _ in use.input(0) }
        case "concatMapTo": source.flatMap(.concat) { _ in use.input(0) }
        case "switchMapTo": source.flatMap(.latest) { _ in use.input(0) }
        case "mergeAll": source.flatMap(try merging(use, 0)) { use.graph.input($0) }
        case "concatAll": source.flatMap(.concat) { use.graph.input($0) }
        case "switchAll": source.flatMap(.latest) { use.graph.input($0) }
        case "exhaustAll": source.flatMap(.first) { use.graph.input($0) }
        case "mergeScan": try flatScan(source, try merging(use, 2), use)
        case "switchScan": try flatScan(source, .latest, use)
        default: nil
        }
    }

    /// Side by side, as many as an argument says.
    static func merging(_ use: Operator, _ index: Int) throws -> FlattenStrategy {
        use[index] == .undefined ? .merge : .merge(limit: try use.number(index))
    }

    /// The index counts the streams started, not the values that came.
    private static func flatMap(
        _ source: Stream, _ strategy: FlattenStrategy, _ use: Operator
    ) throws -> Stream {
        let transform = try use.function(0)
        return .deferred {
            let count = State(0)
            return source.flatMap(strategy) { value throws(RecordedError) in
                defer { count.update { $0 += 1 } }
                return use.graph.input(try transform(value, .number(count.value)))
            }
        }
    }

    /// Each inner value is what the next stream is made with.
    private static func flatScan(
        _ source: Stream, _ strategy: FlattenStrategy, _ use: Operator
    ) throws -> Stream {
        let combine = try use.function(0)
        return .deferred {
            let result = State(use[1])
            return source.numbered().flatMap(strategy) { numbered throws(RecordedError) in
                use.graph.input(try combine(result.value, numbered.value, numbered.index))
                    .handleEvents(onNext: { result.value = $0 })
            }
        }
    }
}
