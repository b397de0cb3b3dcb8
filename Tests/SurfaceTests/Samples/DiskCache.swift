import RxDiskCache
import RxNetworking

func keepAnswersOnDisk() -> TieredCacheStore {
    let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
    return store
}

func limitAStoreOnDisk() {
    let disk = DiskCacheStore(
        folder: "/var/cache/shop", limit: 64 << 20, entryLimit: 4 << 20, countLimit: 2000,
        patience: .milliseconds(200))
    show(TieredCacheStore(MemoryCacheStore(limit: 8 << 20), over: disk))
}

func lookIntoAStore(_ disk: DiskCacheStore) async throws {
    print(disk.usage.entries, disk.usage.bytes, disk.usage.evicted)
    print(disk.statistics.unansweredLookups, disk.statistics.brokenEntries, disk.statistics.busy)
    if let error = disk.statistics.lastFailure { print(error) }

    let count = try await disk.remove(.identity("anna")).first()
    show(count)
}
