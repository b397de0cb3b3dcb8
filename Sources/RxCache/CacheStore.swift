public import FoundationEssentials
public import RxHTTP
public import RxLite

/// The storage of a cache. It decides only which responses make room for others.
///
/// The streams of its methods are cold: each subscription performs the operation once. Operations take effect
/// in the order of their subscriptions, so a lookup sees every ``store(_:)`` that was begun before it.
/// Subscribing is thread-safe and does not block; values may arrive on any thread, and the subscriber's
/// stream moves them to its scheduler. Cancelling a subscription discards the result; an operation that has
/// begun may still complete.
///
/// A store compares keys as a whole, and stores keys and metadata by their `Codable` form: both have members that are not
/// public, such as the fields by which the server selected a variant.
///
/// A failure of a store fails only its direct caller; for a request of a client it is a miss. A corrupt entry
/// (truncated, in another format, or with other bytes than were stored) is omitted from lookups and removed;
/// it is not a failure.
public protocol CacheStore: Sendable {
    /// One value: all variants of `key`, the latest first; empty if there are none. Counts as their last use,
    /// if that decides which responses make room.
    func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError>

    /// The result of ``entries(for:)`` if it is known without waiting; `nil` if it has to be looked up.
    /// Thread-safe. Default `nil`.
    func entriesInMemory(for key: CacheKey) -> [CacheEntry]?

    /// Stores an entry in place of the one it ``CacheEntry/Metadata/replaces(_:)``, if any, and evicts others
    /// if room is needed. An entry larger than the store may hold is not stored, and the one it would replace
    /// is removed; that is not a failure. One value when done.
    func store(_ entry: CacheEntry) -> Observable<Void, NetworkError>

    /// Replaces the metadata of the entry with the same ``CacheEntry/Metadata/id`` and keeps its body; does
    /// nothing if the entry is gone. One value when done.
    func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError>

    /// Removes the selected entries. One value when done: how many there were.
    func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError>

    /// Sends each selection that another process has removed from a shared store, once this process knows it. A memory
    /// tier in front of the store then removes the same, and responses in flight are not stored. Default: never.
    var invalidations: Observable<CacheSelection, Never> { get }

    /// The contents, as far as known: a store shared with another process may lag behind. Thread-safe.
    var usage: CacheUsage { get }
}

extension CacheStore {
    /// `nil`: responses have to be looked up.
    public func entriesInMemory(for key: CacheKey) -> [CacheEntry]? { nil }

    /// Never sends anything.
    public var invalidations: Observable<CacheSelection, Never> { .never() }
}

/// A selection of stored responses.
public enum CacheSelection: Sendable, Hashable {
    // The same rules are in `MemoryCacheContents`, in `CacheTable` on disk, and in the names of epochs in a fleet.

    /// All responses.
    case all
    /// The response with this ``CacheEntry/Metadata/id``.
    case id(UUID)
    /// All responses with exactly this ``CacheKey/url``, of any method, account and variant.
    case url(String)
    /// The responses to GET with exactly this ``CacheKey/url``, of any account and variant, without those to POST.
    case resource(String)
    /// All responses whose ``CacheKey/urlWithoutQuery`` is this one: the same URL with any query, or with none.
    case anyQuery(of: String)
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
        case .anyQuery(of: let url): entry.key.urlWithoutQuery == url
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
        case .url(let url), .resource(let url), .anyQuery(of: let url): "URL \(url.withoutSecrets)"
        case .tag(let tag): "tag \(tag)"
        case .identity: "identity"
        }
    }
}

/// The contents of a ``CacheStore``.
public struct CacheUsage: Sendable, Hashable {
    /// The number of responses.
    public var entries: Int
    /// Their size in bytes: bodies, heads, keys.
    public var bytes: Int
    /// The number of responses evicted to make room since the store was created.
    public var evicted: Int

    /// Creates a usage.
    public init(entries: Int = 0, bytes: Int = 0, evicted: Int = 0) {
        self.entries = entries
        self.bytes = bytes
        self.evicted = evicted
    }
}
