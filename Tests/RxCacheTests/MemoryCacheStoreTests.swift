import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxTesting
import Testing

struct MemoryCacheStoreTests {
    @Test func givesWhatIsKeptUnderAKeyAlone() {
        let store = MemoryCacheStore()
        store.put("/a", body: 10)
        store.put("/a", identity: "anna", body: 20)
        store.put("/b", body: 30)
        #expect(store.bodies("/a") == [10])
        #expect(store.bodies("/a", identity: "anna") == [20])
        #expect(store.bodies("/c") == [])
    }

    @Test func givesAllVariantsNewestFirst() {
        let store = MemoryCacheStore()
        store.put("/a", language: "de", body: 1, time: 10)
        store.put("/a", language: "en", body: 2, time: 30)
        store.put("/a", language: "fr", body: 3, time: 20)
        #expect(store.bodies("/a") == [2, 3, 1])
    }

    @Test func aLaterAnswerTakesThePlaceOfItsVariant() {
        let store = MemoryCacheStore()
        store.put("/a", language: "de", body: 1)
        store.put("/a", language: "en", body: 2)
        store.put("/a", language: "de", body: 3)
        #expect(store.bodies("/a").sorted() == [2, 3])
        #expect(store.usage.entries == 2)
    }

    @Test func dropsWhatHasNotBeenUsedForLongest() {
        let one = CacheEntry.sample("/a", body: 100).byteCount
        let store = MemoryCacheStore(limit: 3 * one, entryLimit: one)
        for path in ["/a", "/b", "/c"] { store.put(path, body: 100) }
        #expect(store.bodies("/a") == [100])
        store.put("/d", body: 100)
        #expect(store.bodies("/b") == [])
        #expect(["/a", "/c", "/d"].allSatisfy { store.bodies($0) == [100] })
        #expect(store.usage == CacheUsage(entries: 3, bytes: 3 * one, evicted: 1))
    }

    @Test func aLargeAnswerTakesTheRoomOfSeveral() {
        let one = CacheEntry.sample("/a", body: 100).byteCount
        let store = MemoryCacheStore(limit: 4 * one, entryLimit: 3 * one)
        for path in ["/a", "/b", "/c", "/d"] { store.put(path, body: 100) }
        store.put("/e", body: 100 + 2 * one)
        #expect(["/a", "/b", "/c"].allSatisfy { store.bodies($0) == [] })
        #expect(store.bodies("/d") == [100])
        #expect(store.usage.evicted == 3)
    }

    @Test func anAnswerTooLargeIsNotKeptAndNeitherIsTheOneBefore() {
        let store = MemoryCacheStore(limit: 4000, entryLimit: 1000)
        store.put("/a", body: 100)
        store.put("/b", body: 100)
        store.put("/a", body: 1001)
        #expect(store.bodies("/a") == [])
        #expect(store.bodies("/b") == [100])
        #expect(store.usage.evicted == 0)
    }

    @Test func aStoreWithoutRoomKeepsNothing() {
        let store = MemoryCacheStore(limit: 0)
        store.put("/a", body: 1)
        #expect(store.usage == CacheUsage())
    }

    @Test func metadataChangesAndTheBodyStays() throws {
        let store = MemoryCacheStore()
        var entry = CacheEntry.sample("/a", body: 7)
        store.store(entry).subscribe()
        let before = store.usage.bytes
        entry.metadata.head = ResponseHead(status: .ok, headerFields: [.eTag: "\"long\""])
        entry.metadata.freshness.lifetime = 99
        store.update(entry.metadata).subscribe()
        let found = try #require(store.found("/a").first)
        #expect(found.metadata.freshness.lifetime == 99)
        #expect(found.body.count == 7)
        #expect(store.usage == CacheUsage(entries: 1, bytes: found.byteCount))
        #expect(store.usage.bytes > before)
    }

    @Test func anUpdateOfABodyThatHasGoneDoesNothing() {
        let store = MemoryCacheStore()
        let old = CacheEntry.sample("/a", body: 7, time: 1)
        store.store(old).subscribe()
        store.put("/a", body: 8, time: 2)
        store.update(old.metadata).subscribe()
        #expect(store.bodies("/a") == [8])
        store.remove(.all).subscribe()
        store.update(old.metadata).subscribe()
        #expect(store.usage == CacheUsage())
    }

    static let selections: [(CacheSelection, [String])] = [
        (.all, []),
        (.url("http://h/a?x=1"), ["http://h/a", "http://h/b"]),
        (.anyQuery(of: "http://h/a"), ["http://h/b"]),
        (.tag("even"), ["http://h/a", "http://h/b"]),
        (.resource("http://h/a"), ["http://h/a?x=1", "http://h/b"]),
        (.identity("anna"), ["http://h/a", "http://h/a?x=1"]),
        (.url("http://h/A"), ["http://h/a", "http://h/a?x=1", "http://h/b"]),
        (.id(UUID()), ["http://h/a", "http://h/a?x=1", "http://h/b"]),
    ]

    @Test(arguments: selections)
    func removesWhatIsMeant(_ selection: CacheSelection, _ left: [String]) {
        let store = MemoryCacheStore()
        store.put("http://h/a", body: 1)
        store.put("http://h/a?x=1", body: 2, tags: ["even"])
        store.put("http://h/b", identity: "anna", body: 3)
        let recorder = Recorder(store.remove(selection), on: VirtualScheduler())
        #expect(recorder.values == [3 - left.count])
        let kept = ["http://h/a", "http://h/a?x=1", "http://h/b"].filter { url in
            !store.found(url).isEmpty || !store.found(url, identity: "anna").isEmpty
        }
        #expect(kept == left)
        #expect(store.usage.entries == left.count)
    }

    @Test func theResourceIsRemovedWithoutThePostsToItsURL() {
        let store = MemoryCacheStore()
        store.put("/a", body: 1)
        let key = CacheKey(rules: .time, method: "POST", url: "/a", content: "x")
        let search = CacheEntry(
            .init(
                key: key, head: ResponseHead(status: .ok),
                freshness: CacheFreshness(date: Date(timeIntervalSince1970: 0), lifetime: 9)), body: [2])
        store.store(search).subscribe()
        store.remove(.resource("/a")).subscribe()
        #expect(store.entriesInMemory(for: key)?.count == 1)
        #expect(store.usage.entries == 1)
        store.remove(.url("/a")).subscribe()
        #expect(store.usage.entries == 0)
    }

    @Test func removesOneById() {
        let store = MemoryCacheStore()
        let entry = CacheEntry.sample("/a", body: 1)
        store.store(entry).subscribe()
        store.put("/a", language: "de", body: 2)
        store.remove(.id(entry.metadata.id)).subscribe()
        #expect(store.bodies("/a") == [2])
    }

    @Test func nothingHappensUntilSomebodySubscribes() {
        let store = MemoryCacheStore()
        let storing = store.store(CacheEntry.sample("/a", body: 1))
        #expect(store.usage.entries == 0)
        storing.subscribe()
        #expect(store.usage.entries == 1)
    }

    /// Many operations of all kinds; after each the accounting must match the entries.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func theAccountIsExact(seed: UInt64) {
        var random = SeededRandom(seed)
        let store = MemoryCacheStore(limit: 3000, entryLimit: 900)
        var last: CacheEntry.Metadata?
        for step in 0..<400 {
            let path = "/\(Int.random(in: 0..<12, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0: store.remove(.url(path)).subscribe()
            case 1: store.remove(.tag("even")).subscribe()
            case 2:
                if var last {
                    let padding = String(repeating: "x", count: .random(in: 0..<1200, using: &random))
                    last.head = ResponseHead(status: .ok, headerFields: [.eTag: padding])
                    store.update(last).subscribe()
                }
            default:
                let entry = CacheEntry.sample(
                    path, language: Bool.random(using: &random) ? "de" : nil,
                    body: .random(in: 0..<1000, using: &random), time: Double(step),
                    tags: step.isMultiple(of: 2) ? ["even"] : [])
                last = entry.metadata
                store.store(entry).subscribe()
            }
            let all = (0..<12).flatMap { store.found("/\($0)") }
            #expect(store.usage.entries == all.count)
            #expect(store.usage.bytes == all.reduce(0) { $0 + $1.byteCount })
            #expect(store.usage.bytes <= 3000)
        }
        #expect(store.usage.evicted > 0)
        store.remove(.all).subscribe()
        #expect(store.usage.entries == 0 && store.usage.bytes == 0)
    }

    @Test func aStoreInMemoryHasEverythingAtHand() throws {
        let store = MemoryCacheStore()
        let (entry, other) = (CacheEntry.sample("/a", body: 3), CacheEntry.sample("/b", body: 3))
        #expect(store.entriesInMemory(for: entry.metadata.key)?.isEmpty == true)
        store.store(entry).subscribe()
        #expect(store.entriesInMemory(for: entry.metadata.key)?.map(\.metadata.id) == [entry.metadata.id])
        #expect(store.entriesInMemory(for: other.metadata.key)?.isEmpty == true)
    }

    @Test func lookingAtHandIsUsing() {
        let (first, second) = (CacheEntry.sample("/a", body: 100), CacheEntry.sample("/b", body: 100))
        let store = MemoryCacheStore(limit: 2 * first.byteCount, entryLimit: first.byteCount)
        for entry in [first, second] { store.store(entry).subscribe() }
        _ = store.entriesInMemory(for: first.metadata.key)
        store.store(CacheEntry.sample("/c", body: 100)).subscribe()
        #expect(store.entriesInMemory(for: first.metadata.key)?.count == 1)
        #expect(store.entriesInMemory(for: second.metadata.key)?.isEmpty == true)
    }
}

extension CacheEntry {
    static func sample(
        _ url: String, identity: String = "", language: String? = nil, body: Int, time: TimeInterval = 0,
        tags: Set<String> = []
    ) -> CacheEntry {
        let variant = CacheVariant(language.map { ["accept-language": $0] } ?? [:])
        let metadata = Metadata(
            key: CacheKey(rules: .http, url: url, identity: identity), variant: variant,
            head: ResponseHead(status: .ok),
            freshness: CacheFreshness(date: Date(timeIntervalSince1970: time), lifetime: 60), tags: tags)
        return CacheEntry(metadata, body: Array(repeating: 0, count: body))
    }
}

extension CacheStore {
    fileprivate func put(
        _ url: String, identity: String = "", language: String? = nil, body: Int, time: TimeInterval = 0,
        tags: Set<String> = []
    ) {
        let entry = CacheEntry.sample(
            url, identity: identity, language: language, body: body, time: time, tags: tags)
        store(entry).subscribe()
    }

    fileprivate func found(_ url: String, identity: String = "") -> [CacheEntry] {
        let key = CacheKey(rules: .http, url: url, identity: identity)
        return Recorder(entries(for: key), on: VirtualScheduler()).values.first ?? []
    }

    fileprivate func bodies(_ url: String, identity: String = "") -> [Int] {
        found(url, identity: identity).map(\.body.count)
    }
}
