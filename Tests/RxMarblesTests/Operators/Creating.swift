import RxLite

/// Where streams begin.
enum Creating {
    static func stream(_ use: Operator) throws -> Stream {
        if let reason = Absence.reasons[use.name] { throw Unsupported(operation: use.name, reason: reason) }
        let graph = use.graph
        switch use.name {
        case "of": return .sequence(use.arguments.filter { $0 != .scheduler })
        case "from", "EMPTY", "empty", "NEVER": return try constant(use)
        case "range": return try range(use)
        case "pairs": return pairs(use[0])
        case "throwError":
            guard let make = use.lambda(use[0]) else { return .fail(RecordedError(use[0])) }
            return .deferred { () throws(RecordedError) in .fail(RecordedError(try make())) }
        case "timer":
            if use[0] == .number(.infinity) { return .never() }
            return try timer(use)
        case "interval":
            return Observable<Int, RecordedError>.interval(try use.duration(0), on: use.clock).map {
                .number($0)
            }
        case "generate": return try generate(use)
        case "zip": return Observable.zip(use.inputs).combined(by: use.combiner)
        case "combineLatest":
            return Combining.members(of: use[0], in: graph) { .combineLatest($0) }
                ?? Observable.combineLatest(use.inputs).combined(by: use.combiner)
        case "forkJoin":
            return Combining.members(of: use[0], in: graph, Combining.last)
                ?? Combining.last(of: use.inputs).combined(by: nil)
        case "race": return .race(use.inputs)
        case "defer":
            let make = try use.function(0)
            return .deferred { () throws(RecordedError) in graph.input(try make()) }
        case "iif":
            let condition = try use.function(0)
            return .deferred { () throws(RecordedError) in use.input(try condition().isTrue ? 1 : 2) }
        case "merge":
            let limit = use.arguments.last.flatMap { try? use.number($0) }
            let strategy: FlattenStrategy = limit.map { .merge(limit: $0) } ?? .merge
            return Observable<Stream, RecordedError>.sequence(use.inputs).flatMap(strategy) { $0 }
        case "concat": return .concat(use.inputs)
        case "onErrorResumeNext": return Combining.resuming(use.inputs)
        default: throw UnknownOperator(name: use.name)
        }
    }

    private static func constant(_ use: Operator) throws -> Stream {
        switch use.name {
        case "from": use.input(0)
        case "NEVER": .never()
        default: .empty()
        }
    }

    /// Zero when it is due, and the numbers after it every period, if there is one.
    private static func timer(_ use: Operator) throws -> Stream {
        let first = Observable<Void, RecordedError>.timer(try use.duration(0), on: use.clock)
            .map { Value.number(0) }
        if use[1] == .undefined || use[1] == .scheduler { return first }
        if use[1] == .number(.infinity) { return .concat([first, .never()]) }
        let period = try use.duration(1)
        return first.flatMap { zero in
            Observable<Int, RecordedError>.interval(period, on: use.clock).map { .number($0 + 1) }
                .startWith(zero)
        }
    }

    /// Each state, as long as the condition holds, made of the one before; or what is selected of it.
    private static func generate(_ use: Operator) throws -> Stream {
        let isObject = if case .object = use[0] { true } else { false }
        let options = isObject ? use[0] : .undefined
        let first = isObject ? options["initialState"] : use[0]
        let condition = use.lambda(isObject ? options["condition"] : use[1])
        let select = use.lambda(isObject ? options["resultSelector"] : use[3])
        guard let iterate = use.lambda(isObject ? options["iterate"] : use[2]) else {
            throw use.unsupported("there is nothing to iterate with")
        }
        return Stream.just(first).expand { state throws(RecordedError) in .just(try iterate(state)) }
            .take(while: { state throws(RecordedError) in try condition?(state).isTrue ?? true })
            .map { state throws(RecordedError) in try select?(state) ?? state }
    }

    private static func range(_ use: Operator) throws -> Stream {
        let (start, count) =
            use[1] == .undefined ? (0, try use.number(0)) : (try use.number(0), try use.number(1))
        return .sequence((start..<start + count).map { .number($0) })
    }

    private static func pairs(_ object: Value) -> Stream {
        guard case .object(let members) = object else { return .empty() }
        return .sequence(members.sorted { $0.key < $1.key }.map { .array([.string($0.key), $0.value]) })
    }
}
