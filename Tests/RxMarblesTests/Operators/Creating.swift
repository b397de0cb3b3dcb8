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
            guard use[1] == .undefined || use[1] == .scheduler else { throw use.unsupported("a period") }
            return Observable<Void, RecordedError>.timer(try use.duration(0), on: use.clock).map {
                .number(0)
            }
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
