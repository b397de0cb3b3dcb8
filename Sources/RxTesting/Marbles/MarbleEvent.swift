public import RxLite

/// One event of a stream and its virtual time.
public struct MarbleEvent<Element: Sendable, Failure: Error>: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// A value.
        case next(Element)
        /// The end.
        case end(Completion<Failure>)
    }

    /// The time of the event.
    public var time: Duration
    /// The kind of the event.
    public var kind: Kind

    /// Creates an event.
    public init(time: Duration, kind: Kind) {
        self.time = time
        self.kind = kind
    }

    /// The events of a diagram. Letters without a value stand for themselves if `Element` is `String`.
    static func events(
        of text: String, values: [Character: Element], error: Failure?, frame: Duration
    ) throws(MarbleError) -> [MarbleEvent] {
        let marks = try MarbleParser.marks(of: text, frame: frame)
        let zero = marks.first { $0.mark == .subscription }?.time ?? .zero
        var events: [MarbleEvent] = []
        for mark in marks {
            func problem(_ problem: MarbleError.Problem) -> MarbleError {
                MarbleError(problem: problem, position: mark.position, text: text)
            }
            let time = mark.time - zero
            switch mark.mark {
            case .value(let letter):
                guard let value = values[letter] ?? String(letter) as? Element else {
                    throw problem(.noValue(letter))
                }
                events.append(MarbleEvent(time: time, kind: .next(value)))
            case .end:
                events.append(MarbleEvent(time: time, kind: .end(.finished)))
            case .error:
                guard let error else { throw problem(.noError) }
                events.append(MarbleEvent(time: time, kind: .end(.failed(error))))
            case .subscription: continue
            case .unsubscription: throw problem(.unexpected("!"))
            }
        }
        return events
    }
}
