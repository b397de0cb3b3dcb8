package import FoundationEssentials
package import HTTPTypes
package import RxHTTP

/// The decision about a request that has a stored response: whether that is used, or the server is asked.
package enum CacheVerdict: Equatable {
    /// The stored response is used.
    case use(isStale: Bool)
    /// The stored response is used, and renewed in the background (RFC 5861 §3).
    case useAndRefresh
    /// The request is sent.
    case ask
}

extension CacheFreshness {
    /// Whether a response with this freshness may be used for a request (RFC 9111 §4).
    package func verdict(for demand: CacheDemand, at now: Date) -> CacheVerdict {
        let age = age(at: now)
        let isFresh = age < lifetime
        if demand.mustConfirm || alwaysRevalidates && !demand.acceptsAnyAge { return .ask }
        if let maxAge = demand.maxAge, age > maxAge || maxAge == 0 { return .ask }
        if isFresh { return lifetime - age >= demand.minFresh ? .use(isStale: false) : .ask }
        guard demand.minFresh == 0 else { return .ask }
        let staleness = age - lifetime
        if demand.acceptsAnyAge, staleness <= demand.maxStale ?? .infinity { return .use(isStale: true) }
        guard !neverStale else { return .ask }
        if let maxStale = demand.maxStale, maxStale > 0, staleness <= maxStale { return .use(isStale: true) }
        if staleWhileRevalidate > 0, staleness <= staleWhileRevalidate {
            // RFC 5861 §3 permits the use; the renewal is only recommended.
            return demand.onlyIfCached ? .use(isStale: true) : .useAndRefresh
        }
        return .ask
    }

    /// Whether a response with this freshness may be used if the server has failed (RFC 5861 §4).
    package func isUsableOnError(for demand: CacheDemand, at now: Date) -> Bool {
        guard !alwaysRevalidates, !neverStale, !demand.mustConfirm else { return false }
        let window = max(staleIfError, demand.staleIfError)
        return window > 0 && age(at: now) - lifetime <= window
    }
}

/// The use of the cache that a request allows: its mode, and the directives of its `Cache-Control` (RFC 9111
/// §5.2.1). Where the two differ, the stricter one counts.
package struct CacheDemand: Sendable, Equatable {
    /// Whether a stored response may be used.
    package var readsStore = true
    /// Whether the response may be stored.
    package var writesStore = true
    /// Whether a stored response of any age may be used, within ``maxAge``, ``maxStale`` and ``minFresh``.
    package var acceptsAnyAge = false
    /// Whether a stored response requires revalidation.
    package var mustConfirm = false
    /// Whether the server must not be asked.
    package var onlyIfCached = false
    /// The greatest age of a stored response, in seconds.
    package var maxAge: TimeInterval?
    /// For how many seconds beyond its freshness a stored response may be used; `nil` if the request does not
    /// say so.
    package var maxStale: TimeInterval?
    /// For how many more seconds a stored response must be fresh.
    package var minFresh: TimeInterval = 0
    /// For how many seconds beyond its freshness a stored response may be used if the server fails (RFC 5861
    /// §4).
    package var staleIfError: TimeInterval = 0

    /// Reads a request. A request with conditions or a range bypasses the cache, because its response is not
    /// complete for other requests. So does a request whose body is not decoded, because stored bodies are
    /// decoded.
    package init(_ mode: CacheMode, _ request: Request) {
        let fields = request.headerFields
        switch mode {
        case .standard: break
        case .noStore: (readsStore, writesStore) = (false, false)
        case .reload: readsStore = false
        case .noCache: mustConfirm = true
        case .forceCache: acceptsAnyAge = true
        case .onlyIfCached: (acceptsAnyAge, onlyIfCached) = (true, true)
        }
        if !request.decodesContent { (readsStore, writesStore) = (false, false) }
        guard fields.contains(where: { Self.considered.contains($0.name) }) else { return }
        read(fields)
        if Self.conditions.contains(where: { fields[$0] != nil }) {
            (readsStore, writesStore) = (false, false)
        }
    }

    private static let conditions: [HTTPField.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
    ]
    /// All fields that say anything to a cache: most requests have none. ``read(_:)`` sees no others.
    private static let considered = conditions + [.cacheControl, .pragma]

    private mutating func read(_ fields: HTTPFields) {
        guard let field = fields[.cacheControl] else {
            // RFC 9111 §5.4.
            if let pragma = fields[.pragma], CacheControl(pragma).has("no-cache") { mustConfirm = true }
            return
        }
        let directives = CacheControl(field)
        if directives.has("no-store") { (readsStore, writesStore) = (false, false) }
        if directives.has("no-cache") { mustConfirm = true }
        if directives.has("only-if-cached") { onlyIfCached = true }
        maxAge = directives.seconds("max-age")
        minFresh = directives.seconds("min-fresh") ?? 0
        staleIfError = directives.seconds("stale-if-error") ?? 0
        if directives.has("max-stale") {
            // Without a number any age is accepted; with an invalid one, none beyond freshness.
            maxStale =
                directives.argument("max-stale") == nil
                ? .infinity : directives.seconds("max-stale") ?? 0
        }
    }

    /// Adds the fields that tell other caches on the way about the mode, as fetch does.
    package func addFields(to request: inout Request, _ mode: CacheMode) {
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
