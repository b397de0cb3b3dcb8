import RxLite

/// Operators that combine several streams.
enum Combining {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "merge", "mergeWith": return try merge(source, use)
        case "concat", "concatWith":
            var others = use.rest()
            others.dropScheduler()
            return .concat([source] + (try others.inputs(spreading: false)))
        case "onErrorResumeNext", "onErrorResumeNextWith":
            return resuming([source] + (try use.rest().inputs(spreading: true)))
        case "startWith": return .concat([.sequence(use.unscheduled), source])
        case "endWith": return .concat([source, .sequence(use.unscheduled)])
        case "race", "raceWith":
            return .race([source] + (try use.rest().inputs(spreading: use.name == "race")))
        case "zip", "zipWith":
            return try combined(use, spreading: false) { Observable.zip([source] + $0) }
        case "combineLatest", "combineLatestWith":
            return try combined(use, spreading: use.name == "combineLatest") {
                Observable.combineLatest([source] + $0)
            }
        case "zipAll":
            let combine = try use.optionalFunction(0)
            return source.collect().flatMap { Observable.zip($0.map(use.graph.input)).combined(by: combine) }
        case "combineLatestAll", "combineAll":
            let combine = try use.optionalFunction(0)
            return source.collect().flatMap {
                Observable.combineLatest($0.map(use.graph.input)).combined(by: combine)
            }
        case "withLatestFrom":
            return try combined(use, spreading: false) {
                source.withLatestFrom(.combineLatest($0)) { [$0] + $1 }
            }
        default: return nil
        }
    }

    private static func merge(_ source: Stream, _ use: Operator) throws -> Stream {
        var others = use.rest()
        guard use.name == "merge" else { return .merge([source] + (try others.inputs(spreading: false))) }
        others.dropScheduler()
        let limit = try use.limit(others.popNumber() ?? .undefined)
        return merging([source] + (try others.inputs(spreading: true)), limit)
    }

    static func merging(_ streams: [Stream], _ limit: Int?) -> Stream {
        Observable<Stream, RecordedError>.sequence(streams).flatMap(.merging(limit)) { $0 }
    }

    /// The result of `join` on the streams, each list as one value or as the result of a lambda at the end.
    static func combined(
        _ use: Operator, spreading: Bool, _ join: ([Stream]) -> Observable<[Value], RecordedError>
    ) throws -> Stream {
        var inputs = use.rest()
        inputs.dropScheduler()
        let combine = inputs.popFunction()
        if case .object(let members)? = inputs.values.first, inputs.values.count == 1 {
            guard combine == nil else { throw use.unsupported("a lambda of an object") }
            let names = members.keys.sorted()
            return join(try names.map { try use.input(members[$0] ?? .undefined) }).map { values in
                .object(Dictionary(uniqueKeysWithValues: zip(names, values)))
            }
        }
        return join(try inputs.inputs(spreading: spreading)).combined(by: combine)
    }

    /// One after the other, regardless of failures.
    static func resuming(_ streams: [Stream]) -> Stream {
        .concat(streams.map { stream in stream.catch { _ in .empty() } })
    }

    /// The last value of each, when all have finished.
    static func last(of streams: [Stream]) -> Observable<[Value], RecordedError> {
        .zip(streams.map { $0.last() })
    }
}

extension Operator {
    /// All arguments except a scheduler at the end.
    var unscheduled: [Value] {
        var values = rest()
        values.dropScheduler()
        return values.values
    }
}

extension Observable<[Value], RecordedError> {
    /// Each list as one value, or the result of `combine`.
    fileprivate func combined(by combine: CallTable?) -> Stream {
        map { values throws(RecordedError) in try combine?.call(values) ?? .array(values) }
    }
}
