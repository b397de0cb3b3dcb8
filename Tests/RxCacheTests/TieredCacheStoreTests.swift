import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Memory over a store that takes a second for each operation.
@Suite struct TieredCacheStoreTests {
    /// A store in memory that responds after a second, or fails then; operations take effect when they start.
    private final class SlowStore: CacheStore {
        let contents = MemoryCacheStore()
        let clock: VirtualScheduler
        let state = Mutex((lookups: 0, fails: false))

        init(on clock: VirtualScheduler) { self.clock = clock }

        var usage: CacheUsage { contents.usage }

        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
            .deferred {
                self.state.withLock { $0.lookups += 1 }
                return self.later(self.contents.entries(for: key))
            }
        }

        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { later(contents.store(entry)) }

        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
            later(contents.update(metadata))
        }

        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
            later(contents.remove(selection))
        }

        private func later<Value>(_ work: Observable<Value, NetworkError>) -> Observable<Value, NetworkError>
        {
            guard !state.withLock({ $0.fails }) else {
                return .fail(NetworkError(.file, "as asked")).delay(.seconds(1), on: clock)
            }
            return work.delay(.seconds(1), on: clock)
        }
    }

    private let clock = VirtualScheduler()
    private let slow: SlowStore
    private let store: TieredCacheStore

    init() {
        slow = SlowStore(on: clock)
        store = TieredCacheStore(MemoryCacheStore(limit: 10_000, entryLimit: 5000), over: slow)
    }

    private func begin(_ url: String) -> Recorder<[CacheEntry], NetworkError> {
        Recorder(store.entries(for: CacheKey(rules: .http, url: url)), on: clock)
    }

    /// The sizes of the bodies found, and the number of lookups below.
    private func look(_ url: String) throws -> (bodies: [Int], below: Int) {
        let before = slow.state.withLock { $0.lookups }
        let recorder = begin(url)
        try clock.run()
        #expect(recorder.isFinished)
        return (
            recorder.values.flatMap { $0.map(\.body.count) }, slow.state.withLock { $0.lookups } - before
        )
    }

    private func put(_ entry: CacheEntry) throws {
        store.store(entry).subscribe()
        try clock.run()
    }

    /// Entries that were looked up or stored come from memory from then on.
    @Test func promotes() throws {
        slow.contents.store(.sample("/a", body: 7)).subscribe()
        #expect(try look("/a") == ([7], 1))
        #expect(try look("/a") == ([7], 0))
        #expect(try look("/b") == ([], 1))
        try put(.sample("/b", body: 8))
        #expect(try look("/b") == ([8], 0))
        #expect(slow.contents.usage.entries == 2)
        #expect(store.usage == slow.usage)
    }

    /// Memory must have all variants, else the lower store is asked.
    @Test func variants() throws {
        for (language, body) in [("de", 1001), ("en", 1002)] {
            slow.contents.store(.sample("/a", language: language, body: body, time: Double(body)))
                .subscribe()
        }
        #expect(try look("/a") == ([1002, 1001], 1))
        try put(.sample("/a", language: "fr", body: 1003, time: 1003))
        #expect(try look("/a") == ([1003, 1002, 1001], 0))
        // Evicts one of them from memory.
        for number in 0..<3 { try put(.sample("/x\(number)", body: 2400)) }
        #expect(store.memory.usage.evicted == 1)
        #expect(try look("/a") == ([1003, 1002, 1001], 1))
    }

    /// An entry that is too large for memory is found below.
    @Test func large() throws {
        try put(.sample("/a", body: 6000))
        #expect(store.memory.usage.entries == 0)
        #expect(try look("/a") == ([6000], 1))
        #expect(try look("/a") == ([6000], 1))
    }

    /// Changes reach both.
    @Test func changes() throws {
        var entry = CacheEntry.sample("/a", body: 1, tags: ["t"])
        try put(entry)
        entry.metadata.freshness.lifetime = 99
        store.update(entry.metadata).subscribe()
        try clock.run()
        for tier in [store.memory, slow.contents] {
            let found = Recorder(tier.entries(for: entry.metadata.key), on: clock).values.first
            #expect(found?.first?.metadata.freshness.lifetime == 99)
        }
        let removed = Recorder(store.remove(.tag("t")), on: clock)
        try clock.run()
        #expect(removed.values == [1])
        #expect(store.memory.usage.entries == 0 && slow.contents.usage.entries == 0)
        #expect(try look("/a").bodies == [])
    }

    /// A lookup under way does not overwrite a later change with old entries.
    @Test(arguments: [0, 1, 2])
    func outdated(kind: Int) throws {
        let old = CacheEntry.sample("/a", body: 1, time: 1)
        slow.contents.store(old).subscribe()
        let lookup = begin("/a")
        try clock.advance(by: .milliseconds(500))
        switch kind {
        case 0: store.store(.sample("/a", body: 2, time: 2)).subscribe()
        case 1: store.remove(.url("/a")).subscribe()
        default:
            var metadata = old.metadata
            metadata.freshness.lifetime = 99
            store.update(metadata).subscribe()
        }
        try clock.run()
        #expect(lookup.isFinished)
        #expect(try look("/a").bodies == [[2], [], [1]][kind])
        let found = begin("/a")
        try clock.run()
        #expect(kind < 2 || found.values.first?.first?.metadata.freshness.lifetime == 99)
    }

    /// If the lower store fails, memory remains usable.
    @Test func failing() throws {
        try put(.sample("/a", language: "de", body: 1, time: 1))
        slow.state.withLock { $0.fails = true }
        let storing = Recorder(store.store(.sample("/a", language: "en", body: 2, time: 2)), on: clock)
        try clock.run()
        #expect(storing.failure?.code == .file)
        #expect(try look("/a") == ([2, 1], 1))
        #expect(try look("/b") == ([], 1))
        slow.state.withLock { $0.fails = false }
        #expect(try look("/a").bodies == [2, 1])
    }
}
