#if DiskCache
public import RxCache
public import RxHTTP
public import RxLite
import RxSQLite

/// Stores responses in a folder, up to a number of bytes and of entries. The least recently used one is
/// evicted first.
///
/// ```swift
/// let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
/// ```
///
/// Stored responses survive the process, even if it is killed at any moment, and several processes may use
/// one folder at the same time. Data on disk is not trusted: an entry with a wrong checksum is a miss and is
/// removed; a database that is corrupt, of another version, or not a database is replaced by an empty one.
///
/// The store reads and writes on a separate thread, one operation after another, so the disk delays only the
/// callers of the store. Values arrive on that thread. A lookup that fails, because of the disk or the lock
/// of another process, finds nothing; ``statistics`` counts it. A change that cannot be made fails with
/// `NetworkError.Code.file`.
///
/// The folder must be used by the store alone, and be on a local disk. It is created with mode 0700, its
/// files with 0600: responses are stored unencrypted, and identities as salted hashes. A folder or a file of
/// another user, and a folder that others can write to, are refused with `NetworkError.Code.untrustedFile`.
/// Thread-safe.
public final class DiskCacheStore: CacheStore {
    /// The folder of the responses.
    public let folder: String
    private let cache: OpenCache
    private let thread = WorkThread<Work> { batch, failure in
        let refusal = failure.map { code in
            NetworkError(.file, "no thread could be created for the disk cache: error \(code)")
        }
        for work in batch { work(refusal) }
    }

    /// A piece of work. `refusal` is the error if no thread could be created for it.
    private typealias Work = @Sendable (_ refusal: NetworkError?) -> Void

    /// Creates a store and begins to open the folder, which is created if needed.
    ///
    /// - Parameters:
    ///   - folder: a path, absolute or relative to the working directory.
    ///   - limit: the most bytes of all entries, measured by `CacheEntry.byteCount`. The files take about a
    ///     tenth more, and up to 4 MiB for the log. Default 256 MiB.
    ///   - entryLimit: the most bytes of one entry, so that a large one does not evict all others; at most
    ///     512 MiB. Default a sixteenth of `limit`.
    ///   - countLimit: the most entries. Default 10,000.
    ///   - patience: how long one operation waits while another process is writing, up to an hour. Default
    ///     half a second.
    public init(
        folder: String, limit: Int = 256 << 20, entryLimit: Int? = nil, countLimit: Int = 10_000,
        patience: Duration = .milliseconds(500)
    ) {
        self.folder = folder
        let limits = DiskCacheLimits(
            bytes: limit, entries: countLimit,
            entryBytes: min(entryLimit ?? limit / 16, limit, DiskCacheLimits.maxEntryBytes))
        cache = OpenCache(CacheFolder(SQLiteFolder(path: folder, patience: patience)), limits: limits)
        thread.add { [cache] _ in cache.open() }
    }

    deinit {
        // Closing also reads and writes.
        thread.add { [cache] _ in cache.close() }
    }

    /// The contents of the folder, as this store last saw them.
    public var usage: CacheUsage { cache.usage }

    /// The failures so far.
    public var statistics: DiskCacheStatistics { cache.statistics }

    /// All variants of a key, the latest first.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        working { .success($0.entries(for: key)) }
    }

    /// Stores an entry, and evicts others if room is needed.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        working { cache in cache.change { try $0.store(entry) } }
    }

    /// Replaces the metadata of an entry and keeps its body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        working { cache in cache.change { try $0.update(metadata) } }
    }

    /// Removes the selected entries; removing all of them removes the database file.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        working { $0.remove(selection) }
    }

    /// Closes the files after everything has been written. One value when done; later operations open them
    /// again. Use it before an app is suspended, for example; a store that is released closes its files
    /// itself.
    public func close() -> Observable<Void, NetworkError> {
        working { .success($0.close()) }
    }

    /// The result of `work`, which runs on the store's thread even if the subscriber has left by then.
    private func working<Value: Sendable>(
        _ work: @escaping @Sendable (OpenCache) -> Result<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        // In the order of the subscriptions, which `create` would not keep for those made within one lane.
        Observable { observer in
            self.thread.add { [cache = self.cache] refusal in
                let result = refusal.map(Result.failure) ?? work(cache)
                observer.scope.enter { observer.emitOnly(result) }
            }
        }
    }
}

/// The limits of a ``DiskCacheStore``.
struct DiskCacheLimits {
    let bytes: Int
    let entries: Int
    let entryBytes: Int

    /// The bound of `entryLimit`, as its documentation says. SQLite accepts no blob or row larger than 1,000,000,000
    /// bytes, or a lower limit with which it was built (https://www.sqlite.org/limits.html).
    static let maxEntryBytes = 512 << 20
}

/// The failures of a ``DiskCacheStore`` since its creation. None of them fails a request.
public struct DiskCacheStatistics: Sendable {
    /// Lookups that failed on disk, and therefore were misses.
    public internal(set) var failedLookups = 0
    /// Failed changes: storing, updating, removing, and opening the folder.
    public internal(set) var failedChanges = 0
    /// How many of both failed because another process did not release the folder in time.
    public internal(set) var busy = 0
    /// Entries that differed from what had been written, and were removed.
    public internal(set) var brokenEntries = 0
    /// Databases that were corrupt, of another version, or not databases, and were replaced by an empty one.
    public internal(set) var brokenDatabases = 0
    /// The latest failure counted in ``failedLookups`` or ``failedChanges``.
    public internal(set) var lastFailure: NetworkError?
}
#else
/// A store of responses on disk; needs the package trait `DiskCache`.
@available(*, unavailable, message: "enable the trait DiskCache of the package RxNetworking")
public typealias DiskCacheStore = Never
#endif
