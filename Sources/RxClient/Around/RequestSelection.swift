public import RxHTTP

/// Which of a client's running requests are meant.
public enum RequestSelection: Sendable, Hashable {
    /// All of them.
    case all
    /// The one of this id.
    case id(RequestID)
    /// All to this URL, or to this path below the client's base URL, whatever their query.
    case url(String)
    /// All that have this among their ``Endpoint/tags``.
    case tag(String)
}
