import RxHTTP

/// A signal of a resumable stream.
enum StreamSignal<Item: Sendable>: Sendable {
    case open(ResponseHead)
    /// An item, and the id of the stream from then on, if there are ids.
    case item(Item, id: String?)
    case comment(String)
    case lastEventID(String)
    /// The server's reconnection time.
    case retry(Duration)
    /// The server asks for no further connection.
    case stop
    case reconnecting(after: Duration, because: NetworkError?)
}
