/// Whether the request asks the server before it sends the content (`Expect: 100-continue`).
struct Expectation {
    /// Whether the request may ask.
    var isAllowed = true
    /// How long curl waits for `100 Continue` before it sends the content; `nil` if the request does not ask.
    var wait: Duration?
}
