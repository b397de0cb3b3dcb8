/// Whether a server is asked before the content is sent (`Expect: 100-continue`).
struct Expectation {
    /// Whether it may be asked.
    var isAllowed = true
    /// How long curl waits for `100 Continue` before it sends the content; `nil` if it does not ask.
    var wait: Duration?
}
