/// What a ``TieredCacheStore`` knows of its lower store, and which lookups are on their way there.
struct TierContents {
    private struct Lookup {
        var count = 0
        var isOutdated = false
    }

    /// All variants of a key, as far as this process knows; more than there are where some have been dropped.
    private var variants: [CacheKey: Set<CacheVariant>] = [:]
    private var lookups: [CacheKey: Lookup] = [:]
    /// More are forgotten, which costs a look below.
    private static let mostKeys = 10_000

    /// Whether to look below, since `upper` is not all that is there; then ``endLookup(of:)`` must follow.
    mutating func beginLookup(of key: CacheKey, unlessComplete upper: [CacheEntry]) -> Bool {
        // Where memory has nothing, another process may have stored something.
        if !upper.isEmpty, let known = variants[key], known.count == upper.count,
            upper.allSatisfy({ known.contains($0.metadata.variant) })
        {
            return false
        }
        lookups[key, default: Lookup()].count += 1
        return true
    }

    mutating func endLookup(of key: CacheKey) {
        lookups[key]?.count -= 1
        if lookups[key]?.count == 0 { lookups[key] = nil }
    }

    /// Notes what a lookup has found, unless it is out of date.
    mutating func completes(_ key: CacheKey, with entries: [CacheEntry]) -> Bool {
        guard !isOutdated(key) else { return false }
        if variants.count >= Self.mostKeys { variants = [:] }
        variants[key] = Set(entries.map(\.metadata.variant))
        return true
    }

    /// Whether something has changed since the lookups of this key began.
    func isOutdated(_ key: CacheKey) -> Bool { lookups[key]?.isOutdated == true }

    mutating func stores(_ metadata: CacheEntry.Metadata) {
        variants[metadata.key]?.insert(metadata.variant)
        lookups[metadata.key]?.isOutdated = true
    }

    mutating func removes() {
        for key in lookups.keys { lookups[key]?.isOutdated = true }
    }
}
