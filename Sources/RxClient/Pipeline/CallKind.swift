/// The kinds of calls, each of which takes some of the stages.
public enum CallKind: Int, Sendable, Hashable, CaseIterable {
    /// ``Client/request(_:)``: a typed result. Pages are loaded like this, too.
    case request
    /// ``Client/progress(of:)``: the same with its progress.
    case progress
    /// ``Client/response(_:from:)``: one attempt, whose stages follow by hand.
    case response
    /// ``Client/stream(_:)``: the events of the response.
    case stream
    /// ``Client/download(_:to:ignoringQuery:in:)``.
    case download
    /// A connection of ``Client/events(_:lastEventID:limit:waits:)``.
    case events
    /// ``Client/exchange(_:following:usesCookies:)``: a request made by hand.
    case exchange

    /// Whether one value is the whole result.
    var isWhole: Bool { self == .request || self == .progress || self == .response }
}
