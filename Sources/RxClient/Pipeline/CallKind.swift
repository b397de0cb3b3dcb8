/// The kinds of calls, each of which goes through some of the stages.
public enum CallKind: Int, Sendable, Hashable, CaseIterable {
    /// ``Client/request(_:)``: a typed result. Pages are loaded in the same way.
    case request
    /// ``Client/progress(of:)``: a typed result with its progress.
    case progress
    /// ``Client/response(_:from:)``: one attempt, with further stages chained by hand.
    case response
    /// ``Client/stream(_:)``: the events of the response.
    case stream
    /// ``Client/download(_:to:ignoringQuery:in:)``: the response in a file.
    case download
    /// ``Client/events(_:until:resumption:lastEventID:limit:waits:)``: one connection of an event source.
    case events
    /// ``Client/webSocket(_:sending:settings:)``: one connection of a WebSocket.
    case webSocket
    /// ``Client/exchange(_:following:usesCookies:)``: a handmade request.
    case exchange

    /// Whether the result is an endpoint's output.
    var isTyped: Bool { self == .request || self == .progress }

    /// Whether one value is the whole result.
    var isWhole: Bool { self == .request || self == .progress || self == .response }
}
