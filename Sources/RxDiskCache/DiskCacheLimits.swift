/// How much a ``DiskCacheStore`` keeps.
struct DiskCacheLimits {
    let bytes: Int
    let entries: Int
    let entryBytes: Int

    /// SQLite takes no larger blob than 1,000,000,000 bytes, and less where it was built so
    /// (https://www.sqlite.org/limits.html).
    static let mostEntryBytes = 512 << 20
}
