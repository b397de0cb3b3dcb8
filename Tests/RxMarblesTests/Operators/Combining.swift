import RxLite

/// What makes one stream of several.
enum Combining {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "mergeWith": .merge([source] + use.inputs)
        case "concat", "concatWith": .concat([source] + use.inputs)
        case "onErrorResumeNext": resuming([source] + use.inputs)
        case "startWith":
            use.arguments.filter { $0 != .scheduler }.reversed().reduce(source) { $0.startWith($1) }
        case "endWith": .concat([source, .sequence(use.arguments.filter { $0 != .scheduler })])
        case "race", "raceWith": .race([source] + use.inputs)
        case "zip", "zipWith": Observable.zip([source] + use.inputs).combined(by: use.combiner)
        case "zipAll":
            source.collect().flatMap { Observable.zip($0.map(use.graph.input)).combined(by: use.combiner) }
        case "combineLatest", "combineLatestWith":
            Observable.combineLatest([source] + use.inputs).combined(by: use.combiner)
        case "combineLatestAll":
            source.collect().flatMap {
                Observable.combineLatest($0.map(use.graph.input)).combined(by: use.combiner)
            }
        case "withLatestFrom":
            source.withLatestFrom(.combineLatest(use.inputs)) { [$0] + $1 }.combined(by: use.combiner)
        default: nil
        }
    }

    /// One after the other, whether or not those before fail.
    static func resuming(_ streams: [Stream]) -> Stream {
        .concat(streams.map { stream in stream.catch { _ in .empty() } })
    }

    /// The last value of each, when all have finished.
    static func last(of streams: [Stream]) -> Observable<[Value], RecordedError> {
        .zip(streams.map { $0.last() })
    }

    /// Streams that are given as members of an object: their values become members of objects, too.
    static func members(
        of object: Value, in graph: Graph, _ join: ([Stream]) -> Observable<[Value], RecordedError>
    ) -> Stream? {
        guard case .object(let members) = object else { return nil }
        let names = members.keys.sorted()
        return join(names.map { graph.input(object[$0]) }).map { values in
            .object(Dictionary(uniqueKeysWithValues: zip(names, values)))
        }
    }
}

extension Operator {
    /// The lambda at the end of the arguments, if there is one.
    var combiner: CallTable? { arguments.last.flatMap(lambda) }
}

extension Observable<[Value], RecordedError> {
    /// Each list as one value, or what `combine` makes of it.
    func combined(by combine: CallTable?) -> Stream {
        map { values throws(RecordedError) in try combine?.call(values) ?? .array(values) }
    }
}
