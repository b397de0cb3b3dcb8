#if DiskCache
/// The limits of a ``DiskCacheStore``.
struct DiskCacheLimits {
    let bytes: Int
    let entries: Int
    let entryBytes: Int

    /// SQLite accepts no blob larger than 1,000,000,000 bytes, or fewer if it was built with a lower limit
    /// (https://www.sqlite.org/limits.html).
    static let mostEntryBytes = 512 << 20
}
#endif
