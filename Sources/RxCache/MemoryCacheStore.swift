public import RxHTTP
public import RxLite
import Synchronization

/// Stores responses in memory, up to a number of bytes. The least recently used one is evicted first.
///
/// Its streams deliver at once, on the subscribing thread, and never fail. Thread-safe.
public final class MemoryCacheStore: CacheStore {
    /// The most bytes to store, measured by ``CacheEntry/byteCount``.
    public let limit: Int
    /// The most bytes of one entry.
    public let entryLimit: Int
    private let contents = Mutex(MemoryCacheContents())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limit: the most bytes to store. Default 32 MiB.
    ///   - entryLimit: the most bytes of one entry, so that a large one does not evict all others. Default a
    ///     quarter of `limit`.
    public init(limit: Int = 32 << 20, entryLimit: Int? = nil) {
        self.limit = limit
        self.entryLimit = min(entryLimit ?? limit / 4, limit)
    }

    /// The contents of the store.
    public var usage: CacheUsage { contents.withLock { $0.usage } }

    /// All variants of a key, the latest first.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        .deferred { .just(self.contents.withLock { $0.use(key) }) }
    }

    /// All variants of a key, because memory needs no lookup.
    public func entriesInMemory(for key: CacheKey) -> [CacheEntry]? { contents.withLock { $0.use(key) } }

    /// Stores an entry, and evicts others if room is needed.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        mutate { $0.store(entry, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Replaces the metadata of an entry and keeps its body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        mutate { $0.update(metadata, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Removes the selected entries.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        mutate { $0.remove(selection) }.map(\.count)
    }

    /// Passes the dropped entries out of the lock, to be released there.
    private func mutate(
        _ change: @escaping @Sendable (inout MemoryCacheContents) -> [CacheEntry]
    ) -> Observable<[CacheEntry], NetworkError> {
        .deferred { .just(self.contents.withLock { change(&$0) }) }
    }
}

extension MemoryCacheStore: RedactedDescription {
    /// The number of entries and bytes.
    public var description: String { "\(usage.entries) entries, \(usage.bytes) bytes" }
}

/// The entries of a ``MemoryCacheStore``, their size and the order of their use.
///
/// Changes return the entries that are dropped.
struct MemoryCacheContents {
    private(set) var usage = CacheUsage()
    private var entries = RecencyList<CacheEntry>()
    /// The slots of the entries of each URL, of any method, account and variant.
    private var slots: [String: [Int]] = [:]

    /// The variants of a key, the latest first; this counts as their use.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let slots = slots[key.url] else { return [] }
        var found: [CacheEntry] = []
        for slot in slots {
            guard let entry = entries[slot], entry.metadata.key == key else { continue }
            entries.use(slot)
            found.append(entry)
        }
        if found.count > 1 { found.sort { $0.metadata.freshness.date > $1.metadata.freshness.date } }
        return found
    }

    mutating func store(_ entry: CacheEntry, limit: Int, entryLimit: Int) -> [CacheEntry] {
        var dropped = remove(entry.metadata.key.url) { $0.replaces(entry.metadata) }
        guard entry.byteCount <= entryLimit else { return dropped }
        insert(entry)
        while usage.bytes > limit, let slot = entries.oldest {
            if let oldest = remove(slot) { dropped.append(oldest) }
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
            let all = slots.values.joined().compactMap { entries[$0] }
            (entries, slots, usage.bytes, usage.entries) = (RecencyList(), [:], 0, 0)
            return all
        case .url(let url), .resource(let url): return remove(url, selection.includes)
        default: return slots.keys.flatMap { remove($0, selection.includes) }
        }
    }

    private mutating func remove(
        _ url: String, _ isMeant: (CacheEntry.Metadata) -> Bool
    ) -> [CacheEntry] {
        let meant = slots[url, default: []].filter { slot in
            entries[slot].map { isMeant($0.metadata) } == true
        }
        return meant.compactMap { remove($0) }
    }

    private mutating func insert(_ entry: CacheEntry) {
        let slot = entries.insert(entry)
        slots[entry.metadata.key.url, default: []].append(slot)
        usage.bytes += entry.byteCount
        usage.entries += 1
    }

    private mutating func remove(_ slot: Int) -> CacheEntry? {
        guard let entry = entries[slot] else { return nil }
        let url = entry.metadata.key.url
        entries.remove(slot)
        slots[url]?.removeAll { $0 == slot }
        if slots[url]?.isEmpty == true { slots[url] = nil }
        usage.bytes -= entry.byteCount
        usage.entries -= 1
        return entry
    }
}

/// Elements in the order of their last use. Each has a slot, by which it is found again; finding, using and
/// removing take constant time.
package struct RecencyList<Element> {
    private struct Slot {
        var element: Element?
        var newer: Int?
        var older: Int?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var newest: Int?
    /// The slot of the least recently used element.
    private(set) var oldest: Int?

    /// The element at a slot, which must exist.
    package subscript(slot: Int) -> Element? {
        get { slots[slot].element }
        set { slots[slot].element = newValue }
    }

    /// Adds an element as the most recently used. Returns its slot.
    package mutating func insert(_ element: Element) -> Int {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            slots[slot] = Slot(element: element)
        } else {
            slot = slots.count
            slots.append(Slot(element: element))
        }
        link(slot)
        return slot
    }

    /// Marks the element at a slot as used.
    package mutating func use(_ slot: Int) {
        guard slot != newest else { return }
        unlink(slot)
        link(slot)
    }

    /// Removes the element at a slot, which may then be reused.
    package mutating func remove(_ slot: Int) {
        unlink(slot)
        slots[slot] = Slot()
        free.append(slot)
    }

    private mutating func link(_ slot: Int) {
        slots[slot].older = newest
        slots[slot].newer = nil
        if let newest { slots[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (newer, older) = (slots[slot].newer, slots[slot].older)
        if let newer { slots[newer].older = older } else { newest = older }
        if let older { slots[older].newer = newer } else { oldest = newer }
    }
}
