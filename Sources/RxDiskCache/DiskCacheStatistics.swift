public import RxHTTP

/// The failures of a ``DiskCacheStore`` since its creation. None of it is a failure of a request.
public struct DiskCacheStatistics: Sendable {
    /// Lookups that failed on the disk, and so were misses.
    public internal(set) var unansweredLookups = 0
    /// Failed changes: storing, updating, removing, and opening the folder.
    public internal(set) var failedChanges = 0
    /// How many of both were because another process did not let go of the folder in time.
    public internal(set) var busy = 0
    /// Entries that were not what had been written, and have been removed.
    public internal(set) var brokenEntries = 0
    /// Databases that were broken, of another version, or no databases, and have been replaced by an empty one.
    public internal(set) var brokenDatabases = 0
    /// The last of ``unansweredLookups`` and ``failedChanges``.
    public internal(set) var lastFailure: NetworkError?
}
