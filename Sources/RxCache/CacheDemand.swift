package import FoundationEssentials
package import HTTPTypes
package import RxHTTP

/// What a request lets the cache do: its mode, and the directives of its own `Cache-Control` (RFC 9111 §5.2.1).
package struct CacheDemand: Sendable, Equatable {
    /// Whether a stored response may be used.
    package var readsStore = true
    /// Whether the response may be stored.
    package var writesStore = true
    /// Whether age does not matter.
    package var acceptsAnyAge = false
    /// Whether the server must confirm a stored response.
    package var mustConfirm = false
    /// Whether the server may not be asked.
    package var onlyIfCached = false
    /// The most age, in seconds.
    package var maxAge: TimeInterval?
    /// For how many seconds beyond its freshness a response may be used.
    package var maxStale: TimeInterval = 0
    /// For how many more seconds a response must be fresh.
    package var minFresh: TimeInterval = 0
    /// The same as ``maxStale`` where the server fails (RFC 5861 §4).
    package var staleIfError: TimeInterval = 0

    /// Reads a request. One with conditions or a range of its own goes past the cache: what comes is no complete
    /// response to others. So does one whose body is not decoded, since decoded ones are stored.
    package init(_ mode: CacheMode, _ request: Request) {
        let fields = request.headerFields
        switch mode {
        case .standard: if !fields.isEmpty { read(fields) }
        case .noStore: (readsStore, writesStore) = (false, false)
        case .reload: readsStore = false
        case .noCache: mustConfirm = true
        case .forceCache: acceptsAnyAge = true
        case .onlyIfCached: (acceptsAnyAge, onlyIfCached) = (true, true)
        }
        if !request.decodesContent { (readsStore, writesStore) = (false, false) }
        if !fields.isEmpty, Self.conditions.contains(where: { fields[$0] != nil }) {
            (readsStore, writesStore) = (false, false)
        }
    }

    private static let conditions: [HTTPField.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
    ]

    private mutating func read(_ fields: HTTPFields) {
        guard let field = fields[.cacheControl] else {
            // RFC 9111 §5.4.
            if let pragma = fields[.pragma] { mustConfirm = CacheControl(pragma).has("no-cache") }
            return
        }
        let directives = CacheControl(field)
        if directives.has("no-store") { (readsStore, writesStore) = (false, false) }
        mustConfirm = directives.has("no-cache")
        onlyIfCached = directives.has("only-if-cached")
        maxAge = directives.seconds("max-age")
        minFresh = directives.seconds("min-fresh") ?? 0
        staleIfError = directives.seconds("stale-if-error") ?? 0
        if directives.has("max-stale") {
            // Without a number any age is accepted; with one that cannot be read, none beyond freshness.
            maxStale =
                directives.argument("max-stale") == nil
                ? .infinity : directives.seconds("max-stale") ?? 0
        }
    }

    /// What of it other caches on the way are to know, as fetch tells them.
    package func tell(_ request: inout Request, _ mode: CacheMode) {
        guard request.headerFields[.cacheControl] == nil else { return }
        switch mode {
        case .noStore, .reload:
            request.headerFields[.cacheControl] = "no-cache"
            if request.headerFields[.pragma] == nil { request.headerFields[.pragma] = "no-cache" }
        case .noCache: request.headerFields[.cacheControl] = "max-age=0"
        case .standard, .forceCache, .onlyIfCached: break
        }
    }
}

extension HTTPField.Name {
    package static let pragma = HTTPField.Name("Pragma")!
}
