#if DiskCache
public import RxHTTP

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
#endif
