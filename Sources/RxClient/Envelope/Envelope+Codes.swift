extension Envelope {
    /// A set of codes: a number, a string, a Bool, a range, several of them, or a rule.
    ///
    /// ```swift
    /// let success: Envelope.Codes = 200
    /// let several: Envelope.Codes = [0, "OK", .range(200...299)]
    /// ```
    ///
    /// Codes are compared as text, regardless of their JSON type.
    public struct Codes: Sendable {
        /// Whether the set contains a code; `nil` for a missing code.
        let includes: @Sendable (_ code: String?) -> Bool

        /// The codes that match a rule.
        public static func when(_ includes: @escaping @Sendable (_ code: String) -> Bool) -> Codes {
            Codes { $0.map(includes) ?? false }
        }

        /// The whole numbers of a range.
        public static func range(_ range: ClosedRange<Int>) -> Codes {
            when { code in Int(code).map(range.contains) ?? false }
        }

        /// A missing code, or `null`: for servers that send a code only with failures.
        public static let absent = Codes { $0 == nil }
    }
}

extension Envelope.Codes: ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    /// One number.
    public init(integerLiteral value: Int) { self.init(String(value)) }

    /// The code `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value ? "true" : "false") }

    /// One string.
    public init(stringLiteral value: String) { self.init(value) }

    /// Any of several codes; an empty list matches no code.
    public init(arrayLiteral codes: Envelope.Codes...) {
        self.init { code in codes.contains { $0.includes(code) } }
    }

    /// One code, as text.
    public init(_ text: String) { self.init { $0 == text } }
}
