public import RxHTTP
public import RxLite
import Synchronization

/// Stores responses in memory, up to a number of bytes: the one that has not been used for longest goes first.
///
/// Its streams deliver at once, on the subscribing thread, and never fail. Safe from any thread.
public final class MemoryCacheStore: CacheStore {
    /// The most bytes it holds, by ``CacheEntry/byteCount``.
    public let limit: Int
    /// The most bytes that one entry may have.
    public let entryLimit: Int
    private let contents = Mutex(MemoryCacheContents())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limit: the most bytes it holds. Default 32 MiB.
    ///   - entryLimit: the most bytes of one entry, so that a large one does not drive out all others. Default a
    ///     quarter of `limit`.
    public init(limit: Int = 32 << 20, entryLimit: Int? = nil) {
        self.limit = limit
        self.entryLimit = min(entryLimit ?? limit / 4, limit)
    }

    /// Its contents.
    public var usage: CacheUsage { contents.withLock { $0.usage } }

    /// All variants of a key, the ones that came last first.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        .deferred { .just(self.contents.withLock { $0.use(key) }) }
    }

    /// The same, since all of it is at hand.
    public func entriesAtHand(for key: CacheKey) -> [CacheEntry]? { contents.withLock { $0.use(key) } }

    /// Keeps an entry, and drops others where room is needed.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        changing { $0.store(entry, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Puts other metadata to a body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        changing { $0.update(metadata, limit: self.limit, entryLimit: self.entryLimit) }.map { _ in }
    }

    /// Removes what is meant.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        changing { $0.remove(selection) }.map(\.count)
    }

    /// Gives what was dropped out of the lock, to be released there.
    private func changing(
        _ change: @escaping @Sendable (inout MemoryCacheContents) -> [CacheEntry]
    ) -> Observable<[CacheEntry], NetworkError> {
        .deferred { .just(self.contents.withLock { change(&$0) }) }
    }
}

extension MemoryCacheStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How much is stored.
    public var description: String { "\(usage.entries) entries, \(usage.bytes) bytes" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
