/// The variants that a ``TieredCacheStore`` knows in its lower store, and the lookups that run there.
struct TierContents {
    private struct Lookup {
        var count = 0
        var isOutdated = false
    }

    /// All variants of a key known to this process; dropped ones may be included.
    private var variants: [CacheKey: Set<CacheVariant>] = [:]
    private var lookups: [CacheKey: Lookup] = [:]
    /// The most keys to remember. Forgetting them costs lookups in the lower store.
    private static let mostKeys = 10_000

    /// Begins a lookup in the lower store, unless `upper` is complete. If this returns true,
    /// ``endLookup(of:)`` must follow.
    mutating func beginLookup(of key: CacheKey, unlessComplete upper: [CacheEntry]) -> Bool {
        // If memory has nothing, another process may have stored something.
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

    /// Records the result of a lookup, unless it is outdated.
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
