#if DiskCache
import FoundationEssentials
import HTTPTypes
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import RxTesting
import TestServers
import Testing

@testable import disk_cache_probe

/// A disk store has at every moment the same entries as a store in memory with the same limits.
@Suite(.timeLimit(.minutes(5))) struct ModelTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>, [false, true])
    func doesAsMemoryDoes(seed: UInt64, isTight: Bool) async throws {
        var random = SeededRandom(seed)
        let folder = try TemporaryFolder()
        let (limit, entryLimit) = isTight ? (20_000, 6000) : (1 << 30, 1 << 30)
        let model = MemoryCacheStore(limit: limit, entryLimit: entryLimit)
        var store = DiskCacheStore(patient: folder, limit: limit, entryLimit: entryLimit)
        var last: [CacheEntry.Metadata] = []
        for step in 0..<300 {
            let key = Int.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let selections: [CacheSelection] = [
                    .url(SampleEntry.key(key).url), .tag("even"), .anyQuery(of: SampleEntry.key(key).url),
                    .identity("anna"), .resource(SampleEntry.key(key).url),
                    .id(last.randomElement(using: &random)?.id ?? UUID()), .all,
                ]
                let selection = selections[Int.random(in: 0..<selections.count, using: &random)]
                #expect(try await store.remove(selection).value() == model.remove(selection).value())
            case 1...4:
                guard var metadata = last.randomElement(using: &random) else { continue }
                metadata.freshness.lifetime += 1
                metadata.tags = ["even", "more"]
                let padding = String(repeating: "x", count: .random(in: 0..<2000, using: &random))
                metadata.head = ResponseHead(status: .ok, headerFields: [.eTag: padding])
                _ = try await store.update(metadata).value()
                _ = try await model.update(metadata).value()
            case 5...10:
                var entry = SampleEntry.make(
                    key: key, number: step, size: .random(in: 0..<7000, using: &random))
                // The order of use of two variants that were used together is not guaranteed.
                if !isTight, Bool.random(using: &random) {
                    entry.metadata.variant = CacheVariant(["accept": "a"])
                }
                last.append(entry.metadata)
                try await store.put(entry)
                try await model.put(entry)
            case 11:
                _ = try await store.close().value()
                store = DiskCacheStore(patient: folder, limit: limit, entryLimit: entryLimit)
            default: break
            }
            let (found, expected) = (
                try await store.found(SampleEntry.key(key)), try await model.found(SampleEntry.key(key))
            )
            #expect(found.map(\.metadata.id) == expected.map(\.metadata.id), "step \(step)")
            #expect(found.map(\.body) == expected.map(\.body))
            #expect(found.map(\.metadata.freshness) == expected.map(\.metadata.freshness))
            #expect(found.map(\.metadata.tags) == expected.map(\.metadata.tags))
            #expect(found.map(\.byteCount) == expected.map(\.byteCount))
            #expect(store.usage.entries == model.usage.entries && store.usage.bytes == model.usage.bytes)
        }
        #expect(store.troubles == "")
        #expect(isTight == (model.usage.evicted > 0))
    }
}
#endif
