/// The entries of a ``MemoryCacheStore``, their size and the order of their use.
///
/// Changes return the entries that are dropped.
struct MemoryCacheContents {
    private(set) var usage = CacheUsage()
    private var entries = RecencyList<CacheEntry>()
    /// The places of the entries of each URL, of any method, account and variant.
    private var places: [String: [Int]] = [:]

    /// The variants of a key, the latest first; this counts as their use.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let places = places[key.url] else { return [] }
        var found: [CacheEntry] = []
        for place in places {
            guard let entry = entries[place], entry.metadata.key == key else { continue }
            entries.use(place)
            found.append(entry)
        }
        if found.count > 1 { found.sort { $0.metadata.terms.date > $1.metadata.terms.date } }
        return found
    }

    mutating func store(_ entry: CacheEntry, limit: Int, entryLimit: Int) -> [CacheEntry] {
        var dropped = remove(entry.metadata.key.url) { $0.replaces(entry.metadata) }
        guard entry.byteCount <= entryLimit else { return dropped }
        insert(entry)
        while usage.bytes > limit, let place = entries.oldest {
            if let oldest = remove(place) { dropped.append(oldest) }
            usage.evicted += 1
        }
        return dropped
    }

    /// Stores the entry again, because it may have grown.
    mutating func update(_ metadata: CacheEntry.Metadata, limit: Int, entryLimit: Int) -> [CacheEntry] {
        let current = remove(metadata.key.url) { $0.id == metadata.id }
        guard let body = current.first?.body else { return [] }
        return current
            + store(CacheEntry(metadata, body: body), limit: limit, entryLimit: entryLimit)
    }

    mutating func remove(_ selection: CacheSelection) -> [CacheEntry] {
        switch selection {
        case .all:
            let all = places.values.joined().compactMap { entries[$0] }
            (entries, places, usage.bytes, usage.entries) = (RecencyList(), [:], 0, 0)
            return all
        case .url(let url), .resource(let url): return remove(url, selection.includes)
        default: return places.keys.flatMap { remove($0, selection.includes) }
        }
    }

    private mutating func remove(
        _ url: String, _ isMeant: (CacheEntry.Metadata) -> Bool
    ) -> [CacheEntry] {
        let meant = places[url, default: []].filter { place in
            entries[place].map { isMeant($0.metadata) } == true
        }
        return meant.compactMap { remove($0) }
    }

    private mutating func insert(_ entry: CacheEntry) {
        let place = entries.insert(entry)
        places[entry.metadata.key.url, default: []].append(place)
        usage.bytes += entry.byteCount
        usage.entries += 1
    }

    private mutating func remove(_ place: Int) -> CacheEntry? {
        guard let entry = entries[place] else { return nil }
        let url = entry.metadata.key.url
        entries.remove(place)
        places[url]?.removeAll { $0 == place }
        if places[url]?.isEmpty == true { places[url] = nil }
        usage.bytes -= entry.byteCount
        usage.entries -= 1
        return entry
    }
}
