import RxLite

/// What makes one value of all.
enum Folding {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "reduce": reduce(source, try use.function(0), from: use.arguments.dropFirst().first)
        case "count":
            source.filtered(by: use.lambda(use[0])).reduce(0) { count, _ in count + 1 }.map { .number($0) }
        case "max": extreme(of: source, 1, use.lambda(use[0]))
        case "min": extreme(of: source, -1, use.lambda(use[0]))
        case "toArray": source.collect().map { .array($0) }
        case "every": try every(source, try use.predicate(0))
        case "isEmpty": source.take(1).map { _ in false }.ifEmpty(default: true)
        case "single": single(source, use.lambda(use[0]))
        case "defaultIfEmpty": source.ifEmpty(default: use[0])
        case "throwIfEmpty": throwIfEmpty(source, use.lambda(use[0]))
        case "sequenceEqual": sequenceEqual(source, use)
        default: nil
        }
    }

    /// Without an initial value the first is it.
    private static func reduce(_ source: Stream, _ combine: CallTable, from initial: Value?) -> Stream {
        source.numbered().reduce(initial) { result, numbered throws(RecordedError) in
            guard let result else { return numbered.value }
            return try combine(result, numbered.value, numbered.index)
        }
        .compactMap { $0 }
    }

    /// The value that is greatest (`sign` 1) or least (-1), the first of those that are equal.
    private static func extreme(of source: Stream, _ sign: Double, _ compare: CallTable?) -> Stream {
        source.reduce(Value?.none) { best, value throws(RecordedError) in
            guard let best else { return value }
            let order: Value =
                try compare?(best, value) ?? (value.isLess(than: best) ? .number(1) : .number(-1))
            guard case .number(let order) = order else { return value }
            return order * sign > 0 ? best : value
        }
        .compactMap { $0 }
    }

    private static func every(
        _ source: Stream, _ holds: @escaping @Sendable (Numbered) throws(RecordedError) -> Bool
    ) throws -> Stream {
        source.numbered().filter { numbered throws(RecordedError) in try !holds(numbered) }
            .take(1).map { _ in false }.ifEmpty(default: true)
    }

    private static func single(_ source: Stream, _ predicate: CallTable?) -> Stream {
        .deferred {
            let hasValues = State(false)
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

    private static func sequenceEqual(_ source: Stream, _ use: Operator) -> Stream {
        let compare = use.lambda(use[1])
        return Observable.zip(source.withEnd(), use.input(0).withEnd()).filter { pair throws(RecordedError) in
            guard let compare, case (let one?, let other?) = pair else { return pair.0 != pair.1 }
            return try !compare(one, other).isTrue
        }
        .take(1).map { _ in false }.ifEmpty(default: true)
    }
}

extension Observable<Value, RecordedError> {
    /// The values, then `nil`.
    fileprivate func withEnd() -> Observable<Value?, RecordedError> {
        .concat([map { $0 }, .just(nil)])
    }
}

extension Value {
    /// The order of JavaScript, as far as both are numbers or both are texts.
    fileprivate func isLess(than other: Value) -> Bool {
        switch (self, other) {
        case (.number(let one), .number(let other)): one < other
        case (.string(let one), .string(let other)): one < other
        default: false
        }
    }
}
