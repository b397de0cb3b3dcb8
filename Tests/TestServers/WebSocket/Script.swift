/// Steps that are performed in order, whatever the client does.
struct Script: Sendable {
    /// The end of a connection that the client leaves open.
    enum Limit: Sendable {
        /// The server fails the connection with 1001.
        case fail(after: Duration)
        /// The server sends a close frame without a code.
        case close(after: Duration)
    }

    var steps: [Step]
    var limit: Limit
    /// The events that are right.
    var expected: [Event]
    /// Other events that the suite reports as not strict.
    var nonStrict: [Event]?
    /// Whether the server closes as soon as it has seen ``expected``, and nothing else is allowed.
    var closesWhenMet = true
}
