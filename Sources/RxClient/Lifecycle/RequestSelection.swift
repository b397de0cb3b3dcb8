public import RxHTTP

/// A selection of a client's running requests.
public enum RequestSelection: Sendable, Hashable {
    /// All requests.
    case all
    /// The request with this id.
    case id(RequestID)
    /// All requests to this URL, or to this path below the client's base URL, with any query.
    case url(String)
    /// All requests with this tag among their ``RequestOptions/tags``.
    case tag(String)
}

extension RequestSelection: RedactedDescription {
    /// The kind and its value, without user info and query.
    public var description: String {
        switch self {
        case .all: "all"
        case .id(let id): "\(id)"
        case .url(let url): "URL \(url.withoutSecrets)"
        case .tag(let tag): "tag \(tag)"
        }
    }
}
