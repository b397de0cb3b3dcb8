import RxLite

/// What lets some of the values through.
enum Filtering {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "filter": source.filtered(by: try use.function(0))
        case "ignoreElements": source.ignoreElements(as: Value.self)
        case "take": source.take(try use.number(0))
        case "takeWhile":
            source.numbered().take(while: try use.predicate(0), inclusive: use[1].isTrue).map(\.value)
        case "takeUntil": source.take(until: use.input(0))
        case "takeLast": try last(try use.number(0), of: source)
        case "skip": source.skip(try use.number(0))
        case "skipWhile": source.numbered().skip(while: try use.predicate(0)).map(\.value)
        case "skipUntil": source.skip(until: use.input(0))
        case "skipLast": butLast(try use.number(0), of: source)
        case "first":
            source.filtered(by: use.lambda(use[0])).take(1).ifEmpty(switchTo: use.fallback(or: .empty))
        case "last":
            source.filtered(by: use.lambda(use[0])).last().ifEmpty(switchTo: use.fallback(or: .empty))
        case "elementAt":
            source.skip(try use.number(0)).take(1).ifEmpty(switchTo: use.fallback(or: .outOfRange))
        case "find": source.filtered(by: try use.function(0)).take(1).ifEmpty(default: .undefined)
        case "findIndex":
            source.numbered().filter(try use.predicate(0)).map(\.index).take(1).ifEmpty(default: .number(-1))
        case "distinct": try distinct(source, use)
        case "distinctUntilChanged": distinctUntilChanged(source, use)
        case "distinctUntilKeyChanged": try distinctUntilKeyChanged(source, use)
        default: nil
        }
    }

    private static func last(_ count: Int, of source: Stream) throws -> Stream {
        guard count > 0 else { return .empty() }
        return source.collect().flatMap { values in Stream.sequence(values.suffix(count)) }
    }

    private static func butLast(_ count: Int, of source: Stream) -> Stream {
        source.scan([]) { held, value in (held + [value]).suffix(count + 1) }
            .compactMap { held in held.count > count ? held.first : nil }
    }

    private static func distinct(_ source: Stream, _ use: Operator) throws -> Stream {
        guard use[1] == .undefined else { throw use.unsupported("what was seen cannot be forgotten") }
        let key = use.lambda(use[0])
        return source.scan((seen: Set<Value>(), fresh: Value?.none)) { before, value throws(RecordedError) in
            let (isFresh, seen) = before.seen.inserting(try key?(value) ?? value)
            return (seen, isFresh ? value : nil)
        }
        .compactMap(\.fresh)
    }

    private static func distinctUntilChanged(_ source: Stream, _ use: Operator) -> Stream {
        let areEqual = use.lambda(use[0])
        let key = use.lambda(use[1])
        return source.map { value throws(RecordedError) in (key: try key?(value) ?? value, value: value) }
            .distinctUntilChanged { before, next throws(RecordedError) in
                try areEqual?(before.key, next.key).isTrue ?? (before.key == next.key)
            }
            .map(\.value)
    }

    private static func distinctUntilKeyChanged(_ source: Stream, _ use: Operator) throws -> Stream {
        guard case .string(let key) = use[0] else { throw use.unsupported("the key is not named") }
        let areEqual = use.lambda(use[1])
        return source.distinctUntilChanged { before, next throws(RecordedError) in
            try areEqual?(before[key], next[key]).isTrue ?? (before[key] == next[key])
        }
    }
}

extension Operator {
    /// The lambda of an argument as a condition on value and index.
    func predicate(_ index: Int) throws -> @Sendable (Numbered) throws(RecordedError) -> Bool {
        let holds = try function(index)
        return { numbered throws(RecordedError) in
            try holds(numbered.value, numbered.index, .opaque).isTrue
        }
    }

    /// The default value where one is given after the first argument, else an error.
    fileprivate func fallback(or error: RecordedError) -> Stream {
        arguments.count > 1 ? .just(self[1]) : .fail(error)
    }
}

extension Set {
    /// Whether the element was not there, and the set with it.
    fileprivate func inserting(_ element: Element) -> (isNew: Bool, set: Set) {
        var set = self
        return (set.insert(element).inserted, set)
    }
}
