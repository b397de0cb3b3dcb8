public import FoundationEssentials
public import RxHTTP

/// A selection of stored responses.
public enum CacheSelection: Sendable, Hashable {
    /// All responses.
    case all
    /// The response with this ``CacheEntry/Metadata/id``.
    case id(UUID)
    /// All responses with exactly this ``CacheKey/url``, of any method, account and variant.
    case url(String)
    /// The responses to GET with exactly this ``CacheKey/url``, of any account and variant, without those to POST.
    case resource(String)
    /// All responses whose URL is this one before the query.
    case place(String)
    /// All responses with this tag among their ``CacheEntry/Metadata/tags``.
    case tag(String)
    /// All responses of this ``CacheKey/identity``.
    case identity(String)

    /// Whether the selection includes `entry`.
    public func includes(_ entry: CacheEntry.Metadata) -> Bool {
        switch self {
        case .all: true
        case .id(let id): entry.id == id
        case .url(let url): entry.key.url == url
        case .resource(let url): entry.key.isResource && entry.key.url == url
        case .place(let place): entry.key.place == place
        case .tag(let tag): entry.tags.contains(tag)
        case .identity(let identity): entry.key.identity == identity
        }
    }
}

extension CacheSelection: RedactedDescription {
    /// The kind and its value, without user info, query and identity.
    public var description: String {
        switch self {
        case .all: "all"
        case .id(let id): "id \(id)"
        case .url(let url), .resource(let url), .place(let url): "URL \(url.withoutSecrets)"
        case .tag(let tag): "tag \(tag)"
        case .identity: "identity"
        }
    }
}
