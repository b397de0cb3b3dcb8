public import RxHTTP

/// Which of a client's running requests are meant.
public enum RequestSelection: Sendable, Hashable {
    /// All of them.
    case all
    /// The one of this id.
    case id(RequestID)
    /// All requests to this URL, or to this path below the client's base URL, with any query.
    case url(String)
    /// All that have this among their ``RequestOptions/tags``.
    case tag(String)
}

extension RequestSelection: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind and its value, without user info and query.
    public var description: String {
        switch self {
        case .all: "all"
        case .id(let id): "\(id)"
        case .url(let url): "URL \(url.withoutSecrets)"
        case .tag(let tag): "tag \(tag)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
