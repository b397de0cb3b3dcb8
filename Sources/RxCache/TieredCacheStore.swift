public import RxHTTP
public import RxLite
import Synchronization

/// A memory store in front of a slower one: responses in memory are returned at once; others are looked up in
/// the lower store and then kept in memory.
///
/// ```swift
/// let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
/// ```
///
/// The lower store holds everything, memory the most recently used responses. A change of the lower store by
/// another process is seen for responses that memory does not hold; a removal also for the others, if the lower store
/// sends ``CacheStore/invalidations``. If the lower store fails, a lookup
/// returns the responses in memory, and a change still takes effect in memory. Thread-safe.
public final class TieredCacheStore: CacheStore {
    /// The upper store.
    public let memory: MemoryCacheStore
    /// The lower store.
    public let lower: any CacheStore
    private let contents = Mutex(TierContents())
    private let subscriptions = SubscriptionBag()

    /// Creates a store of `memory` over `lower`.
    ///
    /// - Parameters:
    ///   - memory: an empty store that is not shared. Default: a store with the default limits.
    ///   - lower: a store that is not used elsewhere in this process, so that memory does not become
    ///     outdated.
    public init(_ memory: MemoryCacheStore = MemoryCacheStore(), over lower: any CacheStore) {
        self.memory = memory
        self.lower = lower
        lower.invalidations.subscribe { [weak self] selection in self?.forget(selection) }
            .store(in: subscriptions)
    }

    /// The removals by other processes, of which the lower store knows.
    public var invalidations: Observable<CacheSelection, Never> { lower.invalidations }

    /// Removes from memory what another process has removed from the lower store.
    private func forget(_ selection: CacheSelection) {
        contents.withLock { $0.didRemove() }
        memory.remove(selection).subscribe(onFailure: { _ in })
    }

    /// The contents of the lower store, which holds all responses. ``memory`` has the usage of the memory
    /// store.
    public var usage: CacheUsage { lower.usage }

    /// All variants of a key, the latest first; from memory if it has all of them.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        memory.entries(for: key).flatMap(.concat) { upper in
            guard self.contents.withLock({ $0.beginLookup(of: key, unlessComplete: upper) }) else {
                return .just(upper)
            }
            return self.lower.entries(for: key)
                .flatMap(.concat) { lower in self.keep(lower, of: key, beside: upper) }
                .catch { _ in .just(upper) }
                .finally { self.contents.withLock { $0.endLookup(of: key) } }
        }
    }

    /// Stores an entry in both stores.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        mutate({ $0.didStore(entry.metadata) }, memory.store(entry), lower.store(entry))
    }

    /// Replaces the metadata of an entry in both stores.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        mutate({ $0.didStore(metadata) }, memory.update(metadata), lower.update(metadata))
    }

    /// Removes the selected entries from both stores. The result is the lower store's number.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        mutate({ $0.didRemove() }, memory.remove(selection).map { _ in }, lower.remove(selection))
    }

    private func mutate<Value>(
        _ change: @escaping @Sendable (inout TierContents) -> Void,
        _ upper: Observable<Void, NetworkError>, _ lower: Observable<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        .deferred {
            // First of all, so that a running lookup does not keep in memory what it has found before.
            self.contents.withLock { change(&$0) }
            return upper.flatMap(.concat) { lower }
        }
    }

    /// Stores entries found in the lower store in memory, and returns them with those that only memory has.
    private func keep(
        _ found: [CacheEntry], of key: CacheKey, beside upper: [CacheEntry]
    ) -> Observable<[CacheEntry], NetworkError> {
        let onlyUpper = upper.filter { entry in !found.contains { $0.metadata.replaces(entry.metadata) } }
        let all = (found + onlyUpper).sorted { $0.metadata.freshness.date > $1.metadata.freshness.date }
        guard contents.withLock({ $0.complete(key, with: all) }) else { return .just(all) }
        let ids = Set(upper.map(\.metadata.id))
        return Observable.sequence(found.filter { !ids.contains($0.metadata.id) })
            .flatMap(.concat) { self.memory.store($0) }
            .collect()
            .flatMap(.concat) { _ -> Observable<[CacheEntry], NetworkError> in
                // A response stored meanwhile may have been replaced in memory by one found before; the lower
                // store has it.
                guard self.contents.withLock({ $0.isOutdated(key) }) else { return .just(all) }
                return self.memory.remove(.url(key.url)).map { _ in all }
            }
    }
}

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
    private static let maxKeys = 10_000

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

    /// Records the result of a lookup; returns false, and records nothing, if it is outdated.
    mutating func complete(_ key: CacheKey, with entries: [CacheEntry]) -> Bool {
        guard !isOutdated(key) else { return false }
        if variants.count >= Self.maxKeys { variants = [:] }
        variants[key] = Set(entries.map(\.metadata.variant))
        return true
    }

    /// Whether something has changed since the lookups of this key began.
    func isOutdated(_ key: CacheKey) -> Bool { lookups[key]?.isOutdated == true }

    mutating func didStore(_ metadata: CacheEntry.Metadata) {
        variants[metadata.key]?.insert(metadata.variant)
        lookups[metadata.key]?.isOutdated = true
    }

    mutating func didRemove() {
        for key in lookups.keys { lookups[key]?.isOutdated = true }
    }
}
