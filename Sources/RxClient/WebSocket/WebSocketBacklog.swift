import RxHTTP
import RxLite

/// The events of a WebSocket that wait while its subscriber has paused, and the end that follows them.
struct WebSocketBacklog {
    /// The size from which on nothing more is read from the network, in bytes.
    static let limit = 1 << 20

    /// The cost of an event without its content, so that many small messages have a limit as well.
    private static let eventSize = 64

    /// The end of the stream, once the connection has ended.
    var completion: Completion<NetworkError>?
    /// The waiting events, from ``first`` on.
    private var events: [WebSocketEvent] = []
    private var first = 0
    private var size = 0

    var isEmpty: Bool { first == events.count }

    var isFull: Bool { size >= Self.limit }

    /// Adds an event. A ping or pong is dropped if half of the limit is used, so that these alone never stop the
    /// reading, by which pings are answered.
    mutating func append(_ event: WebSocketEvent) {
        guard size < Self.limit / 2 || !event.isPingOrPong else { return }
        size += event.contentSize + Self.eventSize
        events.append(event)
    }

    mutating func popFirst() -> WebSocketEvent? {
        guard !isEmpty else { return nil }
        let event = events[first]
        size -= event.contentSize + Self.eventSize
        first += 1
        if isEmpty {
            (events, first) = ([], 0)
        } else if first >= 1024, first * 2 >= events.count {
            events.removeFirst(first)
            first = 0
        }
        return event
    }
}

extension WebSocketEvent {
    fileprivate var isPingOrPong: Bool {
        switch self {
        case .ping, .pong: true
        default: false
        }
    }

    fileprivate var contentSize: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes), .ping(let bytes), .pong(let bytes): bytes.count
        case .opened, .closing, .reconnecting: 0
        }
    }
}
