extension Envelope {
    /// A set of codes: a number, a text, a Bool, a range, several of them, or a rule.
    ///
    /// ```swift
    /// let success: Envelope.Codes = 200
    /// let several: Envelope.Codes = [0, "OK", .range(200...299)]
    /// ```
    ///
    /// A code is compared as text, in which form it comes does not matter.
    public struct Codes: Sendable {
        /// `nil` where there is no code.
        let includes: @Sendable (_ code: String?) -> Bool

        /// By a rule.
        public static func when(_ includes: @escaping @Sendable (_ code: String) -> Bool) -> Codes {
            Codes { $0.map(includes) ?? false }
        }

        /// Whole numbers from the lower bound to the upper one.
        public static func range(_ range: ClosedRange<Int>) -> Codes {
            when { code in Int(code).map(range.contains) ?? false }
        }

        /// No code at all, or `null`: for servers that send one only when something is wrong.
        public static let absent = Codes { $0 == nil }
    }
}

extension Envelope.Codes: ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    /// One number.
    public init(integerLiteral value: Int) { self.init(String(value)) }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value ? "true" : "false") }

    /// One text.
    public init(stringLiteral value: String) { self.init(value) }

    /// Any of several codes; an empty list matches no code.
    public init(arrayLiteral codes: Envelope.Codes...) {
        self.init { code in codes.contains { $0.includes(code) } }
    }

    /// One code.
    public init(_ text: String) { self.init { $0 == text } }
}
