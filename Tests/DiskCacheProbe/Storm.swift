#if DiskCache
import FoundationEssentials
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import RxTesting

/// Random operations of a store; the store counts failures.
struct Storm {
    var store: DiskCacheStore
    var random: SeededRandom
    /// The number of entries that differed from the stored ones.
    private(set) var wrong = 0
    /// The number of entries found.
    private(set) var found = 0
    private var last: CacheEntry.Metadata?

    init(store: DiskCacheStore, random: SeededRandom) {
        self.store = store
        self.random = random
    }

    mutating func step(_ number: Int) async {
        let key = Int.random(in: 0..<SampleEntry.keyCount, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50:
            // A lookup never fails.
            let entries = try? await store.entries(for: SampleEntry.key(key)).value()
            for entry in entries ?? [] {
                found += 1
                if !SampleEntry.isWhole(entry) { wrong += 1 }
            }
        case 50..<90:
            let entry = SampleEntry.make(
                key: key, number: number, size: .random(in: 0..<60_000, using: &random))
            last = entry.metadata
            _ = try? await store.store(entry).value()
        case 90..<96:
            guard var metadata = last else { return }
            metadata.freshness.lifetime += 1
            _ = try? await store.update(metadata).value()
        case 96..<99: _ = try? await store.remove(.url(SampleEntry.key(key).url)).value()
        default: _ = try? await store.remove(.all).value()
        }
    }
}
#endif
