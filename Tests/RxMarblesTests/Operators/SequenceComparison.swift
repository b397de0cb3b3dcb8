import RxLite

/// Whether two streams send the same values: those of each wait for those of the other.
struct SequenceComparison: Sendable {
    fileprivate enum Side: Sendable { case one, other }

    private struct Part: Sendable {
        var waiting: [Value] = []
        var isDone = false
    }

    private var one = Part()
    private var other = Part()
    private var verdict: Value?

    /// `true` or `false` as soon as it is known.
    static func stream(_ one: Stream, _ other: Stream, by compare: CallTable?) -> Stream {
        one.events(of: .one).merge(with: other.events(of: .other))
            .scan(SequenceComparison()) { comparison, event throws(RecordedError) in
                var comparison = comparison
                try comparison.take(event.value, of: event.side, compare)
                return comparison
            }
            .compactMap(\.verdict).take(1)
    }

    /// `nil` is the end.
    private mutating func take(_ value: Value?, of side: Side, _ compare: CallTable?) throws(RecordedError) {
        var (own, opposite) = side == .one ? (one, other) : (other, one)
        if let value, let before = opposite.waiting.first {
            opposite.waiting.removeFirst()
            let areEqual = if let compare { try compare(value, before).isTrue } else { value == before }
            if !areEqual { verdict = false }
        } else if let value {
            if opposite.isDone { verdict = false } else { own.waiting.append(value) }
        } else {
            own.isDone = true
            if opposite.isDone { verdict = .boolean(opposite.waiting.isEmpty) }
        }
        (one, other) = side == .one ? (own, opposite) : (opposite, own)
    }
}

extension Observable<Value, RecordedError> {
    /// The values, then `nil`.
    fileprivate func events(
        of side: SequenceComparison.Side
    ) -> Observable<(side: SequenceComparison.Side, value: Value?), RecordedError> {
        .concat([map { (side, $0) }, .just((side, nil))])
    }
}
