public import FoundationEssentials
import HTTPTypes
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

    /// The size in a store: body, header fields, key, tags and variant.
    public var byteCount: Int { body.count + metadata.byteCount }

    /// The metadata of a stored response.
    public struct Metadata: Sendable, Codable {
        /// Identifies this body: a response that replaces another has a new id.
        public var id: UUID
        /// The key that the response is stored under.
        public var key: CacheKey
        /// The request fields by which the server selected the response (`Vary`), with their values.
        package var variant: CacheVariant
        /// Status and header fields, without those that end with the connection (RFC 9111 §3.1).
        public var head: ResponseHead
        /// How long the response may be used.
        public var freshness: CacheFreshness
        /// Names by which the response can be removed.
        public var tags: Set<String>

        // Stored on disk and in fleets, with the members of key, variant and freshness: a change needs
        // another `CacheSchema.version` and `StoredResponse.version`.
        private enum CodingKeys: String, CodingKey {
            case id
            case key
            case variant
            case head
            case freshness = "terms"
            case tags
        }

        /// Creates metadata, by default for a new body, of a response that fits every request with the key. To store the
        /// metadata of a response, encode the whole value: this initializer makes one that no field of the request selects.
        public init(
            id: UUID? = nil, key: CacheKey, head: ResponseHead, freshness: CacheFreshness,
            tags: Set<String> = []
        ) {
            self.init(id: id, key: key, variant: CacheVariant(), head: head, freshness: freshness, tags: tags)
        }

        package init(
            id: UUID? = nil, key: CacheKey, variant: CacheVariant, head: ResponseHead,
            freshness: CacheFreshness,
            tags: Set<String> = []
        ) {
            self.id = id ?? RandomSource.uuid()
            self.key = key
            self.variant = variant
            self.head = head
            self.freshness = freshness
            self.tags = tags
        }

        /// Whether the response replaces another: both have the same key and variant.
        public func replaces(_ other: Metadata) -> Bool {
            // The statements of `CacheTable` on disk, and its unique index, say the same.
            key == other.key && variant == other.variant
        }

        /// The size of all but the body, which `CacheTable` on disk adds itself.
        var byteCount: Int {
            head.fieldLines.count + key.byteCount
                + tags.reduce(0) { $0 + $1.utf8.count }
                + variant.fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
        }
    }
}

extension CacheEntry.Metadata {
    /// A new encoder for stores, which writes infinite lifetimes as words. Files of other releases have these words.
    package static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    /// A new decoder for what ``encoder()`` has written.
    package static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}

extension CacheKey {
    fileprivate var byteCount: Int {
        method.utf8.count + url.utf8.count + identity.utf8.count + content.utf8.count
    }
}

extension CacheEntry: RedactedDescription {
    /// Key and size.
    public var description: String { "\(metadata.key), \(body.count) bytes" }
}

extension CacheEntry.Metadata: RedactedDescription {
    /// Key and status.
    public var description: String { "\(key), \(head.status.code)" }
}

extension ResponseHead {
    /// Whether a private cache may store the response to a GET (RFC 9111 §3).
    package var isStorable: Bool {
        guard status.code >= 200, status.code != 206, status.code != 304 else { return false }
        let directives = CacheControl(self[.cacheControl])
        if directives.has("must-understand") {
            // RFC 9111 §5.2.2.3: overrides `no-store`, which is meant for caches that do not know it.
            guard status.isHeuristicallyCacheable else { return false }
        } else if directives.has("no-store") {
            return false
        }
        return directives.has("max-age") || directives.has("public") || directives.has("private")
            || directives.has("no-cache") || self[.expires] != nil || status.isHeuristicallyCacheable
    }

    /// The head without the fields of the connection or of this exchange, and without those that must be
    /// asked for each time (RFC 9111 §3.1, §5.2.2.4).
    package var storable: ResponseHead {
        let directives = CacheControl(self[.cacheControl])
        let named = (self[.connection] ?? "").parts(at: ",").map { $0.trimmingBlanks().lowercasedToken() }
        let dropped = Self.hopByHop.union(named).union(directives.fieldNames("no-cache"))
        return ResponseHead(
            status: status, headerFields: headerFields.filter { !dropped.contains($0.name.canonicalName) })
    }

    /// `Age` is computed at each use, and ``telling(age:)`` appends it, so that it must not be stored.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "age",
    ]

    /// The head with the fields of a 304 in place of those of the same name (RFC 9111 §3.2); `nil` if that
    /// exceeds the limits of a header section, which would otherwise grow from one 304 to the next.
    package func updated(by confirmation: ResponseHead) -> ResponseHead? {
        let new = confirmation.storable.headerFields.filter {
            !Self.ofTheBody.contains($0.name.canonicalName)
        }
        let names = Set(new.map(\.name))
        let old = headerFields.filter { !names.contains($0.name) }
        guard old.count + new.count <= Self.maxFields else { return nil }
        let updated = ResponseHead(status: status, headerFields: old + new)
        return updated.fieldLines.count <= Self.maxBytes ? updated : nil
    }

    /// The most bytes that a transport accepts in a header section, by default (`headerLimit` of RxCurl).
    private static let maxBytes = 256 << 10

    /// Fields that describe the stored body.
    private static let ofTheBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// The head with an `Age` field (RFC 9111 §5.1).
    package func telling(age: TimeInterval) -> ResponseHead {
        let seconds = age.isFinite ? Int(min(age, TimeInterval(1 << 31))) : 1 << 31
        var lines: [UInt8] = []
        lines.reserveCapacity(fieldLines.count + 20)
        lines += fieldLines
        lines += "Age: ".utf8
        lines += String(seconds).utf8
        lines += "\r\n".utf8
        return ResponseHead(status: status, fieldLines: lines, httpVersion: httpVersion)
    }

    /// Whether both have the same entity tag, or either has none; compared weakly (RFC 9110 §8.8.3.2).
    package func hasSameTag(as other: ResponseHead) -> Bool {
        guard let own = self[.eTag], let others = other[.eTag] else { return true }
        func opaque(_ tag: String) -> Substring.UTF8View {
            tag.utf8.starts(with: "W/".utf8) ? tag.utf8.dropFirst(2) : tag.utf8[...]
        }
        return opaque(own).elementsEqual(opaque(others))
    }
}
