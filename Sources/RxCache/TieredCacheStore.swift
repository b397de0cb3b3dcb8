public import RxHTTP
public import RxLite
import Synchronization

/// A store in memory over a slower one: responses in memory are returned at once, others are looked up below and then
/// kept in memory.
///
/// ```swift
/// let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
/// ```
///
/// The lower store has everything, memory what was used last. Another process that changes the lower store is seen
/// for what memory does not hold. Where the lower store fails, a lookup gives what memory has, and a change has
/// happened in memory all the same. Safe from any thread.
public final class TieredCacheStore: CacheStore {
    /// The upper store.
    public let memory: MemoryCacheStore
    /// The lower store.
    public let lower: any CacheStore
    private let contents = Mutex(TierContents())

    /// Puts `memory` over `lower`.
    ///
    /// - Parameters:
    ///   - memory: empty, and not shared. Default: one with its own defaults.
    ///   - lower: not used elsewhere in this process, so that memory does not become outdated.
    public init(_ memory: MemoryCacheStore = MemoryCacheStore(), over lower: any CacheStore) {
        self.memory = memory
        self.lower = lower
    }

    /// The contents of the lower store, which holds all responses. See ``memory`` for its part.
    public var usage: CacheUsage { lower.usage }

    /// All variants of a key, the ones that came last first: from memory if it has all of them.
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

    /// Keeps an entry in both.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        changing({ $0.stores(entry.metadata) }, memory.store(entry), lower.store(entry))
    }

    /// Puts other metadata to a body in both.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        changing({ $0.stores(metadata) }, memory.update(metadata), lower.update(metadata))
    }

    /// Removes what is meant from both. The number is the lower store's.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        changing({ $0.removes() }, memory.remove(selection).map { _ in }, lower.remove(selection))
    }

    private func changing<Value>(
        _ note: @escaping @Sendable (inout TierContents) -> Void,
        _ upper: Observable<Void, NetworkError>, _ lower: Observable<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        .deferred {
            self.contents.withLock { note(&$0) }
            return upper.flatMap(.concat) { lower }
        }
    }

    /// Takes what was found below into memory, and gives it with what only memory has.
    private func keep(
        _ found: [CacheEntry], of key: CacheKey, beside upper: [CacheEntry]
    ) -> Observable<[CacheEntry], NetworkError> {
        let onlyUpper = upper.filter { entry in !found.contains { $0.metadata.replaces(entry.metadata) } }
        let all = (found + onlyUpper).sorted { $0.metadata.terms.date > $1.metadata.terms.date }
        guard contents.withLock({ $0.completes(key, with: all) }) else { return .just(all) }
        let ids = Set(upper.map(\.metadata.id))
        return Observable.sequence(found.filter { !ids.contains($0.metadata.id) })
            .flatMap(.concat) { self.memory.store($0) }
            .collect()
            .flatMap(.concat) { _ -> Observable<[CacheEntry], NetworkError> in
                // What was stored meanwhile may be under what was found: the lower store knows.
                guard self.contents.withLock({ $0.isOutdated(key) }) else { return .just(all) }
                return self.memory.remove(.url(key.url)).map { _ in all }
            }
    }
}
