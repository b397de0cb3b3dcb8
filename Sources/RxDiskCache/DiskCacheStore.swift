public import RxCache
public import RxHTTP
public import RxLite

/// Stores responses in a folder, up to a number of bytes and of entries: the one that has not been used for longest
/// goes first.
///
/// ```swift
/// let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
/// ```
///
/// Stored responses survive the process, also if it is killed at any moment, and several processes may use one folder
/// at the same time. Data on the disk is not trusted: an entry whose checksum is wrong is a miss and removed; a
/// database that is broken, no database or of another version is replaced by an empty one.
///
/// The store reads and writes on its own thread, one operation after the other, so the disk delays only the callers of
/// the store. Values come on that thread. A lookup that fails, because of the disk or the lock of another process,
/// finds nothing; ``statistics`` counts it. A change of the store then fails with ``NetworkError/Code/file``.
///
/// The folder is for the store alone, and on a local disk. It is made with mode 0700, the files in it with 0600:
/// responses are stored unencrypted, and identities as salted hashes. A folder or a file of another user, and a folder
/// that others can write to, are refused with ``NetworkError/Code/untrustedFile``. Safe from any thread.
public final class DiskCacheStore: CacheStore {
    /// The folder of the responses.
    public let folder: String
    private let cache: OpenCache
    private let thread = DiskThread()

    /// Begins to open the folder, which is made if it is not there.
    ///
    /// - Parameters:
    ///   - folder: a path; relative ones start at the working directory.
    ///   - limit: the most bytes of all entries, by ``CacheEntry/byteCount``. The files take about a tenth more, and up
    ///     to 4 MiB for the log. Default 256 MiB.
    ///   - entryLimit: the most bytes of one entry, so that a large one does not drive out all others; 512 MiB are the
    ///     most. Default a sixteenth of `limit`.
    ///   - countLimit: the most entries. Default 10,000.
    ///   - patience: how long one operation waits where another process is writing, up to an hour. Default half a
    ///     second.
    public init(
        folder: String, limit: Int = 256 << 20, entryLimit: Int? = nil, countLimit: Int = 10_000,
        patience: Duration = .milliseconds(500)
    ) {
        self.folder = folder
        let limits = DiskCacheLimits(
            bytes: limit, entries: countLimit,
            entryBytes: min(entryLimit ?? limit / 16, limit, DiskCacheLimits.mostEntryBytes))
        let milliseconds = min(max(patience / .milliseconds(1), 0), 3_600_000)
        cache = OpenCache(CacheFolder(path: folder, patience: Int(milliseconds)), limits: limits)
        thread.run { [cache] _ in cache.open() }
    }

    deinit {
        // Closing reads and writes, too.
        thread.run { [cache] _ in cache.close() }
    }

    /// The contents of the folder, as this store last saw them.
    public var usage: CacheUsage { cache.usage }

    /// The failures.
    public var statistics: DiskCacheStatistics { cache.statistics }

    /// All variants of a key, the ones that came last first.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        working { .success($0.entries(for: key)) }
    }

    /// Keeps an entry, and drops others where room is needed.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        working { cache in cache.change { try $0.store(entry) } }
    }

    /// Puts other metadata to a body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        working { cache in cache.change { try $0.update(metadata) } }
    }

    /// Removes what is meant; all of it together with the file it is in.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        working { $0.remove(selection) }
    }

    /// Closes the files, in which everything is written then. One value when it is done; what is begun afterwards opens
    /// them again. Before an app is suspended, say; a store that is let go of does it by itself.
    public func close() -> Observable<Void, NetworkError> {
        working { .success($0.close()) }
    }

    /// Gives what `work` returns. It runs on the store's thread, also where the subscriber has gone by then.
    private func working<Value: Sendable>(
        _ work: @escaping @Sendable (OpenCache) -> Result<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        // In the order of the subscriptions, which `create` would not keep for those made within one lane.
        Observable { observer in
            self.thread.run { [cache = self.cache] refusal in
                let result = refusal.map(Result.failure) ?? work(cache)
                observer.scope.enter {
                    guard observer.scope.isOpen else { return }
                    switch result {
                    case .success(let value):
                        observer.next(value)
                        if observer.scope.isOpen { observer.finish() }
                    case .failure(let error): observer.fail(error)
                    }
                }
            }
        }
    }
}
