import RxLite

/// Creators. A scheduler is the clock of the case: values sent at once come at the same instant.
enum Creating {
    @Sendable static func stream(_ use: Operator) throws -> Stream? {
        let graph = use.graph
        switch use.name {
        case "of": return .sequence(use.unscheduled)
        case "from", "scheduled":
            try use.scheduler(1)
            return try use.input(0)
        case "NEVER", "never": return .never()
        case "EMPTY", "empty":
            try use.scheduler(0)
            return .empty()
        case "range": return try range(use)
        case "pairs":
            try use.scheduler(1)
            return pairs(use[0])
        case "throwError":
            try use.scheduler(1)
            guard case .function = use[0] else { return .fail(RecordedError(use[0])) }
            let make = try use.function(0)
            return .deferred { () throws(RecordedError) in .fail(RecordedError(try make())) }
        case "timer": return try timer(use)
        case "interval":
            try use.scheduler(1)
            let period = use[0] == .undefined ? .zero : try use.duration(0)
            return Observable<Int, RecordedError>.interval(period, on: use.clock).map { .number($0) }
        case "generate": return try Generation.stream(use)
        case "zip": return try Combining.combined(use, spreading: true) { .zip($0) }
        case "combineLatest": return try Combining.combined(use, spreading: true) { .combineLatest($0) }
        case "forkJoin": return try Combining.combined(use, spreading: true, Combining.last)
        case "race": return .race(try use.rest().inputs(spreading: true))
        case "defer":
            let make = try use.function(0)
            return .deferred { () throws(RecordedError) in graph.input(try make()) }
        case "iif":
            let condition = try use.function(0)
            let (one, other) = (try use.input(1), try use.input(2))
            return .deferred { () throws(RecordedError) in try condition().isTrue ? one : other }
        case "merge":
            var inputs = use.rest()
            inputs.dropScheduler()
            let limit = try use.limit(inputs.popNumber() ?? .undefined)
            return Combining.merging(try inputs.inputs(spreading: false), limit)
        case "concat":
            var inputs = use.rest()
            inputs.dropScheduler()
            return .concat(try inputs.inputs(spreading: false))
        case "onErrorResumeNext": return Combining.resuming(try use.rest().inputs(spreading: true))
        default: return nil
        }
    }

    /// Zero when it is due, and the next numbers every period, unless that is negative.
    private static func timer(_ use: Operator) throws -> Stream {
        var period = use[1]
        if period == .scheduler || period == .null { period = .undefined }
        try use.scheduler(2)
        if use[0] == .number(.infinity) { return .never() }
        let wait = try use.wait(use[0] == .undefined ? .number(0) : use[0])
        let clock = use.clock
        let first = Stream.deferred {
            Observable<Void, RecordedError>.timer(wait(), on: clock).map { .number(0) }
        }
        if period == .undefined { return first }
        if period == .number(.infinity) { return .concat([first, .never()]) }
        let beat = try use.duration(period)
        guard beat >= .zero else { return first }
        return first.flatMap { zero in
            Observable<Int, RecordedError>.interval(beat, on: clock).map { .number($0 + 1) }.startWith(zero)
        }
    }

    private static func range(_ use: Operator) throws -> Stream {
        try use.scheduler(2)
        let (start, count) =
            use[1] == .undefined ? (0, try use.number(0)) : (try use.number(0), try use.number(1))
        return .sequence((0..<max(count, 0)).lazy.map { .number(start + $0) })
    }

    private static func pairs(_ object: Value) -> Stream {
        guard case .object(let members) = object else { return .empty() }
        return .sequence(members.sorted { $0.key < $1.key }.map { .array([.string($0.key), $0.value]) })
    }
}
