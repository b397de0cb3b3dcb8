/// The time span of a subscription.
///
/// In a diagram `^` is the beginning, and `!` the end, by a cancel or by the end of the stream.
public struct SubscriptionSpan: Sendable, Equatable, CustomStringConvertible {
    /// When it began.
    public var start: Duration
    /// When it ended; `nil` while it lasts.
    public var end: Duration?

    /// Creates a span.
    public init(start: Duration, end: Duration? = nil) {
        self.start = start
        self.end = end
    }

    /// Reads a span such as `--^---!`. Without `^` it begins at zero, without `!` it does not end.
    ///
    /// - Throws: if the text contains anything except `^`, `!` and time.
    public init(_ marbles: String, frame: Duration = .milliseconds(1)) throws(MarbleError) {
        self.init(start: .zero)
        for mark in try MarbleParser.marks(of: marbles, frame: frame) {
            switch mark.mark {
            case .subscription: start = mark.time
            case .unsubscription: end = mark.time
            case .value(let letter):
                throw MarbleError(problem: .unexpected(letter), position: mark.position, text: marbles)
            case .end, .error:
                let character: Character = mark.mark == .end ? "|" : "#"
                throw MarbleError(problem: .unexpected(character), position: mark.position, text: marbles)
            }
        }
    }

    /// Both times.
    public var description: String { "\(start) to \(end.map { "\($0)" } ?? "…")" }
}
