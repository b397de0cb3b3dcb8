#if DiskCache
import Foundation
import HTTPTypes
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import RxTesting
import TestServers
import Testing

@testable import disk_cache_probe

@Suite(.timeLimit(.minutes(3))) struct DiskCacheStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Stored entries are found by the next store on the folder, unchanged.
    @Test func reopened() async throws {
        var entry = SampleEntry.make(key: 1, number: 7, size: 300_000)
        entry.metadata.variant = CacheVariant(["accept-language": "de", "accept": nil])
        entry.metadata.freshness = CacheFreshness(
            date: Date(timeIntervalSince1970: 1.25), initialAge: 0.1, lifetime: .infinity, staleIfError: 3,
            neverStale: true)
        do {
            let store = DiskCacheStore(patient: folder)
            try await store.put(entry)
            #expect(store.usage == CacheUsage(entries: 1, bytes: entry.byteCount))
        }
        let store = DiskCacheStore(patient: folder)
        let found = try await store.found(entry.metadata.key)
        #expect(found.map(\.body) == [entry.body])
        #expect(found.map(\.metadata.id) == [entry.metadata.id])
        #expect(found.map(\.metadata.variant) == [entry.metadata.variant])
        #expect(found.map(\.metadata.freshness) == [entry.metadata.freshness])
        #expect(found.first?.metadata.head[.eTag] == "\"1-7\"")
        #expect(try await store.found(SampleEntry.key(2)).isEmpty)
        #expect(store.usage == CacheUsage(entries: 1, bytes: entry.byteCount))
        #expect(store.troubles == "")
    }

    /// Folder and files belong to their owner alone, for any mask of the process.
    @Test func permissions() async throws {
        let path = folder.file("deep/er")
        let store = DiskCacheStore(folder: path)
        try await store.put(SampleEntry.make(key: 1, number: 1, size: 10_000))
        #expect(try mode(path) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.count == 4)  // the lock, the database, its log and the log's index
        for name in names { #expect(try mode(path + "/" + name) == 0o600, "\(name)") }
    }

    /// The store's thread works in order, so the result of the second call proves that of the first has arrived.
    /// A result that arrives while its subscriber is paused waits.
    @Test func paused() async throws {
        let store = DiskCacheStore(patient: folder)
        let counts = Log()
        let start = Signal<Void>()
        let running = start.observable.flatMap { store.entries(for: SampleEntry.key(1)) }
            .subscribe(onNext: { counts.add($0.count) })
        running.pause()
        start.send()
        #expect(try await store.found(SampleEntry.key(2)).isEmpty)
        #expect(counts.values == [])
        running.resume()
        #expect(counts.values == [0])
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The most recently used entries stay, also across stores.
    @Test(arguments: [false, true])
    func leastRecentlyUsed(byBytes: Bool) async throws {
        let one = SampleEntry.make(key: 1, number: 1, size: 1000).byteCount
        func store() -> DiskCacheStore {
            byBytes
                ? DiskCacheStore(patient: folder, limit: 3 * one, entryLimit: one)
                : DiskCacheStore(patient: folder, countLimit: 3)
        }
        do {
            let store = store()
            for key in [1, 3, 5] { try await store.put(SampleEntry.make(key: key, number: key, size: 1000)) }
            #expect(try await store.found(SampleEntry.key(1)).count == 1)
            _ = try await store.close().value()
        }
        let next = store()
        try await next.put(SampleEntry.make(key: 7, number: 7, size: 1000))
        #expect(next.usage == CacheUsage(entries: 3, bytes: 3 * one, evicted: 1))
        #expect(try await next.numbers() == [1: 1, 5: 5, 7: 7])
        #expect(next.troubles == "")
    }

    /// A smaller limit takes effect with the next change.
    @Test func smallerLimit() async throws {
        do {
            let store = DiskCacheStore(patient: folder)
            for key in 0..<20 { try await store.put(SampleEntry.make(key: key, number: 1, size: 1000)) }
        }
        let store = DiskCacheStore(patient: folder, countLimit: 5)
        try await store.put(SampleEntry.make(key: 0, number: 2, size: 1000))
        #expect(try await store.numbers() == [16: 1, 17: 1, 18: 1, 19: 1, 0: 2])
    }

    /// Of a key with very many variants the most recently used ones stay.
    @Test func variants() async throws {
        let store = DiskCacheStore(patient: folder)
        for number in 0..<40 {
            var entry = SampleEntry.make(key: 1, number: number, size: 10)
            entry.metadata.variant = CacheVariant(["accept": "\(number)"])
            try await store.put(entry)
        }
        let found = try await store.found(SampleEntry.key(1))
        #expect(found.map(SampleEntry.number) == (8..<40).reversed())
        #expect(store.usage.entries == 32)
    }

    /// Removing all entries frees the space at once and leaves nothing behind; the store remains usable.
    @Test func removeAll() async throws {
        let store = DiskCacheStore(patient: folder)
        for key in 0..<10 { try await store.put(SampleEntry.make(key: key, number: 1, size: 100_000)) }
        let before = try folder.database
        #expect(try await store.remove(.all).value() == 10)
        #expect(store.usage.entries == 0 && store.usage.bytes == 0)
        #expect(try folder.names == ["lock"])
        try await store.put(SampleEntry.make(key: 3, number: 3, size: 10))
        #expect(try await store.numbers() == [3: 3])
        #expect(try folder.database != before)
        #expect(store.troubles == "")
    }

    /// A folder that is removed under the store is created again.
    @Test func folderGoes() async throws {
        let path = folder.file("cache")
        let store = DiskCacheStore(folder: path)
        try await store.put(SampleEntry.make(key: 1, number: 1, size: 100))
        try FileManager.default.removeItem(atPath: path)
        #expect(try await store.numbers() == [:])
        try await store.put(SampleEntry.make(key: 2, number: 2, size: 100))
        #expect(try await store.numbers() == [2: 2])
        #expect(store.troubles == "")
    }

    /// The subscribing thread never waits, and work runs in the order of subscription.
    @Test func order() async throws {
        let store = DiskCacheStore(patient: folder)
        let results = Log()
        // All operations start before any of them is awaited.
        let streams = (0..<100).map { number in
            number.isMultiple(of: 2)
                ? store.store(SampleEntry.make(key: 1, number: number, size: 1000)).map { _ in number }
                : store.entries(for: SampleEntry.key(1)).map { $0.first.map(SampleEntry.number) ?? -1 }
        }
        await withCheckedContinuation { continuation in
            for (number, stream) in streams.enumerated() {
                stream.subscribe(
                    onNext: { results.add($0) },
                    onEnd: { _ in if number == 99 { continuation.resume() } })
            }
        }
        #expect(results.values == (0..<100).map { $0 / 2 * 2 })
    }

    /// A store that is released while work waits still does the work.
    @Test func released() async throws {
        var store: DiskCacheStore? = DiskCacheStore(patient: folder)
        for key in 0..<10 {
            store?.store(SampleEntry.make(key: key, number: 5, size: 1000)).subscribe()
        }
        store = nil
        let next = DiskCacheStore(patient: folder)
        // The thread of the first one may still be running.
        var numbers = try await next.numbers()
        while numbers.count < 10 { numbers = try await next.numbers() }
        #expect(numbers.values.allSatisfy { $0 == 5 })
    }
}
#endif
