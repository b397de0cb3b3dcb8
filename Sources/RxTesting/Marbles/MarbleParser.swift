/// Reads marble diagrams (see ``VirtualScheduler/cold(_:values:error:frame:)`` for the notation) into marks with their
/// times. ``MarbleMismatch`` writes the notation, and so does `exports.js` in the page of RxInspector.
struct MarbleParser {
    enum Mark: Equatable {
        case value(Character)
        case end
        case error
        case subscription
        case unsubscription
    }

    struct TimedMark: Equatable {
        var time: Duration
        var mark: Mark
        /// The index of the character in the text, from 0.
        var position: Int
    }

    private let text: String
    private let characters: [Character]
    private let frame: Duration
    private var position = 0
    private var time: Duration = .zero
    /// The position where the current group began.
    private var group: Int?
    private var marks: [TimedMark] = []

    static func marks(of text: String, frame: Duration) throws(MarbleError) -> [TimedMark] {
        var parser = MarbleParser(text, frame: frame)
        return try parser.parse()
    }

    private init(_ text: String, frame: Duration) {
        self.text = text
        self.frame = frame
        characters = Array(text)
    }

    private mutating func parse() throws(MarbleError) -> [TimedMark] {
        while position < characters.count {
            if try skipTimeLiteral() { continue }
            try read(characters[position])
            position += 1
        }
        if let group { throw error(.openGroup, at: group) }
        return marks
    }

    private mutating func read(_ character: Character) throws(MarbleError) {
        switch character {
        case " ": return
        case "-" where group == nil: time += frame
        case "(":
            guard group == nil else { throw error(.unexpected(character)) }
            group = position
        case ")":
            guard let start = group else { throw error(.strayParenthesis) }
            group = nil
            // As in RxJS, a group takes as many frames as it has characters.
            time += frame * (position - start + 1)
        case "|": try add(.end)
        case "#": try add(.error)
        case "^": try add(.subscription)
        case "!": try add(.unsubscription)
        case _ where character.isLetter || character.isNumber: try add(.value(character))
        default: throw error(.unexpected(character))
        }
    }

    private mutating func add(_ mark: Mark) throws(MarbleError) {
        switch mark {
        case .subscription, .unsubscription:
            if marks.contains(where: { $0.mark == mark }) { throw error(.repeated(characters[position])) }
        case .value, .end, .error:
            if marks.contains(where: { $0.mark == .end || $0.mark == .error }) { throw error(.afterEnd) }
        }
        marks.append(TimedMark(time: time, mark: mark, position: position))
        if group == nil { time += frame }
    }

    /// Skips a literal such as `10ms`, delimited by spaces or the edges of the text.
    private mutating func skipTimeLiteral() throws(MarbleError) -> Bool {
        guard group == nil, characters[position].isNumber, position == 0 || characters[position - 1] == " "
        else { return false }
        let word = String(characters[position...].prefix { $0 != " " })
        let digits = word.prefix { $0.isNumber || $0 == "." }
        let seconds: [Substring: Double] = ["ms": 0.001, "s": 1, "m": 60]
        guard let unit = seconds[word.dropFirst(digits.count)] else {
            // A word such as `1--2|` is values; one with a fraction can only be a time.
            if digits.contains(".") { throw error(.badTime(word)) }
            return false
        }
        guard let count = Double(digits), count < 1e9 else { throw error(.badTime(word)) }
        time += .nanoseconds(Int64((count * unit * 1e9).rounded()))
        position += word.count
        return true
    }

    private func error(_ problem: MarbleError.Problem, at index: Int? = nil) -> MarbleError {
        MarbleError(problem: problem, position: index ?? position, text: text)
    }
}

/// The reason why a text is not a marble diagram.
public struct MarbleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of problems.
    package enum Problem: Sendable, Equatable {
        /// The letter has no value.
        case noValue(Character)
        /// A `#` without an error given for it.
        case noError
        /// A character that has no meaning here.
        case unexpected(Character)
        /// `(` without `)`.
        case openGroup
        /// `)` without `(`.
        case strayParenthesis
        /// An event after the end.
        case afterEnd
        /// A second `^` or `!`.
        case repeated(Character)
        /// A time literal that is not a number, or is not followed by a space.
        case badTime(String)
    }

    /// The problem.
    package let problem: Problem
    /// The index of the character in the text, from 0.
    public let position: Int
    /// The text.
    public let text: String

    package init(problem: Problem, position: Int, text: String) {
        self.problem = problem
        self.position = position
        self.text = text
    }

    /// The problem, and the text with a caret under the position.
    public var description: String {
        let what =
            switch problem {
            case .noValue(let letter): "no value is given for '\(letter)'"
            case .noError: "no error is given for '#'"
            case .unexpected(let character): "'\(character)' has no meaning here"
            case .openGroup: "the group is not closed"
            case .strayParenthesis: "')' without '('"
            case .afterEnd: "nothing can come after the end"
            case .repeated(let character): "a second '\(character)'"
            case .badTime(let literal): "'\(literal)' is not a time; write 10ms, 1s or 2m between spaces"
            }
        return "\(what), at \(position):\n\(text)\n\(String(repeating: " ", count: position))^"
    }
}
