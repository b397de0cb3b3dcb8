#if DiskCache
import RxDiskCache
import RxNetworking

func storeResponsesOnDisk() {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    configuration.options.cachePolicy = .http
    let disk = DiskCacheStore(folder: "/var/cache/shop")
    configuration.cache = ResponseCache(store: TieredCacheStore(over: disk))
    show(configuration)
}

func limitAStoreOnDisk() {
    let disk = DiskCacheStore(
        folder: "/var/cache/shop", limit: 64 << 20, entryLimit: 4 << 20, countLimit: 2000,
        patience: .milliseconds(200))
    show(TieredCacheStore(MemoryCacheStore(limit: 8 << 20), over: disk))
}

func lookIntoAStore(_ disk: DiskCacheStore) async throws {
    print(disk.usage.entries, disk.usage.bytes, disk.usage.evicted)
    print(disk.statistics.failedLookups, disk.statistics.brokenEntries, disk.statistics.busy)
    if let error = disk.statistics.lastFailure { print(error) }

    let count = try await disk.remove(.identity("anna")).value()
    show(count)
}
#endif
