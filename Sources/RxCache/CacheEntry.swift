public import FoundationEssentials
public import RxHTTP

/// One stored response: its metadata and its body.
public struct CacheEntry: Sendable {
    /// The metadata, which a 304 changes.
    public var metadata: Metadata
    /// The decoded body.
    public var body: [UInt8]

    /// Creates an entry.
    public init(_ metadata: Metadata, body: [UInt8]) {
        self.metadata = metadata
        self.body = body
    }

    /// The size in a store: body, header fields, key and tags.
    public var byteCount: Int { body.count + metadata.byteCount }

    /// The metadata of a stored response.
    public struct Metadata: Sendable, Codable {
        /// Identifies this body: a response that replaces another has a new id.
        public var id: UUID
        /// The key that the response is stored under.
        public var key: CacheKey
        /// The request fields by which the server selected the response (`Vary`), with their values.
        public var variant: CacheVariant
        /// Status and header fields, without those that end with the connection (RFC 9111 §3.1).
        public var head: ResponseHead
        /// How long the response may be used.
        public var terms: CacheTerms
        /// Names by which the response can be removed.
        public var tags: Set<String>

        /// Creates metadata, by default for a new body.
        public init(
            id: UUID? = nil, key: CacheKey, variant: CacheVariant = CacheVariant(), head: ResponseHead,
            terms: CacheTerms, tags: Set<String> = []
        ) {
            self.id = id ?? Chance.uuid()
            self.key = key
            self.variant = variant
            self.head = head
            self.terms = terms
            self.tags = tags
        }

        /// Whether the response replaces another: both have the same key and variant.
        public func replaces(_ other: Metadata) -> Bool { key == other.key && variant == other.variant }

        var byteCount: Int {
            head.fieldLines.count + key.byteCount
                + tags.reduce(0) { $0 + $1.utf8.count }
                + variant.fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
        }
    }
}

extension CacheKey {
    fileprivate var byteCount: Int {
        method.utf8.count + url.utf8.count + identity.utf8.count + content.utf8.count
    }
}
