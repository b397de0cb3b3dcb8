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
    public func entriesAtHand(for key: CacheKey) -> [CacheEntry]? { contents.withLock { $0.use(key) } }

    /// Stores an entry, and evicts others if room is needed.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        changing { $0.store(entry, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Replaces the metadata of an entry and keeps its body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        changing { $0.update(metadata, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Removes the selected entries.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        changing { $0.remove(selection) }.map(\.count)
    }

    /// Passes the dropped entries out of the lock, to be released there.
    private func changing(
        _ change: @escaping @Sendable (inout MemoryCacheContents) -> [CacheEntry]
    ) -> Observable<[CacheEntry], NetworkError> {
        .deferred { .just(self.contents.withLock { change(&$0) }) }
    }
}

extension MemoryCacheStore: RedactedDescription {
    /// The number of entries and bytes.
    public var description: String { "\(usage.entries) entries, \(usage.bytes) bytes" }
}
