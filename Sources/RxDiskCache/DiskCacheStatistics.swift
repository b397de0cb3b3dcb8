public import RxHTTP

/// What did not go well in a ``DiskCacheStore`` since it was made. None of it is a failure of a request.
public struct DiskCacheStatistics: Sendable {
    /// Lookups that the disk could not answer, and that were misses for that reason.
    public internal(set) var unansweredLookups = 0
    /// What could not be stored, changed or removed; the opening of the folder is one, too.
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
