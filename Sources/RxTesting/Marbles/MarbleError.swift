/// The reason why a text is not a marble diagram.
public struct MarbleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of problems.
    public enum Problem: Sendable, Equatable {
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
    public let problem: Problem
    /// The index of the character in the text, from 0.
    public let position: Int
    /// The text.
    public let text: String

    /// Creates an error about one position in a text.
    public init(problem: Problem, position: Int, text: String) {
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
