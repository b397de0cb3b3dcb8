import RxLite

/// What lets some of the values through.
enum Filtering {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "filter":
            return source.filtered(by: try use.function(0))
        case "take":
            return source.take(try use.number(0))
        case "takeUntil":
            return source.take(until: use.input(0).unfailing())
        case "distinct":
            guard use[1] == .undefined else { throw use.unsupported("what is seen cannot be forgotten") }
            return distinct(source, by: use.lambda(use[0]))
        default:
            return nil
        }
    }

    private static func distinct(_ source: Stream, by key: CallTable?) -> Stream {
        source.scan((seen: Set<Value>(), fresh: Value?.none)) { before, value throws(RecordedError) in
            let (isFresh, seen) = before.seen.inserting(try key?(value) ?? value)
            return (seen, isFresh ? value : nil)
        }
        .compactMap(\.fresh)
    }
}

extension Set {
    /// Whether the element was not there, and the set with it.
    fileprivate func inserting(_ element: Element) -> (isNew: Bool, set: Set) {
        var set = self
        return (set.insert(element).inserted, set)
    }
}

extension Observable<Value, RecordedError> {
    /// The stream for where one is asked for that cannot fail: an error is silence.
    func unfailing() -> Observable<Value, Never> {
        self.catch { _ in .never() }
    }
}
