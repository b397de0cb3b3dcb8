/// The wrapping that many servers put around every answer, such as `{"errcode":200,"msg":"ok","data":…}`.
///
/// ```swift
/// Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
/// Envelope(code: "ok", message: "message", payload: "result", success: true)
/// ```
///
/// A code counts the same as number, Bool or string. Other keys are ignored.
public struct Envelope: Sendable {
    /// Tells success from failure by the code, as text.
    public struct Success: Sendable {
        let includes: @Sendable (_ code: String) -> Bool

        /// By a rule.
        public static func when(_ includes: @escaping @Sendable (_ code: String) -> Bool) -> Success {
            Success(includes: includes)
        }
    }

    /// The key of the code.
    public var code: String
    /// The key of the server's message.
    public var message: String
    /// The key of the content.
    public var payload: String
    /// Which codes mean success.
    public var success: Success

    /// Creates an envelope from its keys.
    public init(
        code: String = "code", message: String = "message", payload: String = "data", success: Success = 0
    ) {
        self.code = code
        self.message = message
        self.payload = payload
        self.success = success
    }
}

extension Envelope.Success: ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
    /// One number.
    public init(integerLiteral value: Int) { self.init { $0 == String(value) } }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init { $0 == (value ? "true" : "false") } }

    /// One text.
    public init(stringLiteral value: String) { self.init { $0 == value } }

    /// Any of several numbers.
    public init(arrayLiteral values: Int...) { self.init { values.map(String.init).contains($0) } }
}
