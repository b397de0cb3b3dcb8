/// One event of a `text/event-stream` (https://html.spec.whatwg.org/multipage/server-sent-events.html).
public struct ServerSentEvent: Sendable, Equatable {
    /// The type of the event (`event:`). Default `message`.
    public var type: String
    /// The data lines, joined by LF.
    public var data: String
    /// The `id:` of this event, otherwise of the last event before it that had one.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}
