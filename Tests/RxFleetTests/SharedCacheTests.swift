#if Fleet
import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxFleet

/// One cache for the processes that share a store.
@Suite struct SharedCacheTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1_000_000))
    private let store: MemoryStore
    private let server = Server()

    /// The number of the content, and of the requests that the server has got.
    private final class Server: Sendable {
        private let contents = Mutex((content: 1, requests: 0))

        func withLock<Result: Sendable>(_ change: (inout (content: Int, requests: Int)) -> Result) -> Result {
            contents.withLock { change(&$0) }
        }
    }

    init() { store = MemoryStore(on: clock, latency: .milliseconds(1)) }

    private struct Process {
        let connection: MemoryStore
        let shared: SharedCacheStore
        let cache: ResponseCache
        let client: Client
    }

    private func process(
        keys: SealingKeys? = nil, account: String? = nil, tags: Set<String> = [],
        latency: Duration = .milliseconds(1), getsMessages: Bool = true
    ) -> Process {
        let connection = store.connection(on: clock, latency: latency)
        let shared = SharedCacheStore(
            in: getsMessages ? connection : Unheard(connection), sealing: keys, clock: clock)
        let cache = ResponseCache(store: TieredCacheStore(over: shared))
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.options.cachePolicy = .http
        configuration.options.tags = tags
        configuration.cache = cache
        if let account {
            configuration.session = Session(credential: Credential(token: account, account: account))
        }
        let transport = ScriptedTransport(on: clock) { [server] request in
            let content = server.withLock { server in
                server.requests += 1
                return server.content
            }
            let headers: HTTPFields = [
                .cacheControl: request.url.path == "/never" ? "no-store" : "max-age=600"
            ]
            return .json("\(content)", headers: headers, after: .milliseconds(100))
        }
        return Process(
            connection: connection, shared: shared, cache: cache,
            client: Client(configuration: configuration, transport: transport))
    }

    /// A store whose messages do not arrive.
    private final class Unheard: SharedStore {
        private let store: MemoryStore

        init(_ store: MemoryStore) { self.store = store }

        func read(_ key: String) -> Observable<SharedEntry?, NetworkError> { store.read(key) }
        func swap(
            _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
            for lifetime: Duration?
        ) -> Observable<SwapResult, NetworkError> {
            store.swap(key, to: bytes, expecting: expected, under: lease, for: lifetime)
        }
        func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
            store.lease(name, for: time)
        }
        func take(
            _ count: Int, from key: String, _ budget: SharedBudget
        ) -> Observable<BudgetReply, NetworkError> { store.take(count, from: key, budget) }
        func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError> {
            store.publish(message, to: channel)
        }
        func messages(of channel: String) -> Observable<SharedMessage, Never> { .never() }
    }

    private var requests: Int { server.withLock { $0.requests } }

    private func get(_ process: Process, _ path: String = "/goods") -> Recorder<Response, NetworkError> {
        Recorder(process.client.get(path), on: clock)
    }

    private func text(_ recorder: Recorder<Response, NetworkError>) -> String? {
        recorder.values.first.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// A response that one process has fetched is used by the others.
    @Test func shared() throws {
        let processes = (0..<5).map { _ in process() }
        for process in processes {
            let recorder = get(process)
            try clock.run()
            #expect(text(recorder) == "1")
        }
        #expect(requests == 1)
    }

    /// Of many processes that miss a response at the same time, one fetches it.
    @Test func stampede() throws {
        let processes = (0..<20).map { _ in process() }
        let recorders = processes.map { get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { text($0) == "1" })
        #expect(requests == 1)
        #expect(
            clock.now < .milliseconds(500), "they wait for the response, not for the time limit: \(clock.now)"
        )
    }

    /// A process that has looked before the response was stored, and wants to fetch it after that, finds it.
    @Test(arguments: [20, 40, 55, 60, 80, 100])
    func lateFetch(latency: Int) throws {
        let processes = [process(), process(latency: .milliseconds(latency))]
        let recorders = processes.map { get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { text($0) == "1" })
        #expect(requests == 1)
        // The next one that misses it waits for nobody.
        processes[1].cache.remove(.all).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        let start = clock.now
        let next = get(processes[0])
        try clock.run()
        #expect(text(next) == "1" && requests == 2)
        #expect(clock.now - start < .milliseconds(500))
    }

    /// A process that does not get the message finds the response at the end of its wait.
    @Test func unheard() throws {
        let (first, second) = (process(), process(getsMessages: false))
        let both = [get(first), get(second)]
        try clock.run()
        #expect(both.map { text($0) } == ["1", "1"])
        #expect(requests == 1)
    }

    /// Responses that arrive together are all stored, also by a process that does not get messages.
    @Test func together() throws {
        let (first, second) = (process(getsMessages: false), process())
        let paths = (0..<8).map { "/goods/\($0)" }
        _ = paths.map { get(first, $0) }
        try clock.run()
        #expect(requests == 8)
        let found = paths.map { get(second, $0) }
        try clock.run()
        #expect(found.allSatisfy { text($0) == "1" } && requests == 8)
    }

    /// A fetch that stores nothing is waited for once.
    @Test func unstored() throws {
        let processes = (0..<4).map { _ in process() }
        var recorders = processes.map { get($0, "/never") }
        try clock.run()
        #expect(recorders.allSatisfy { text($0) == "1" })
        #expect(requests == 4)
        let start = clock.now
        recorders = processes.dropFirst().map { get($0, "/never") }
        try clock.advance(by: .milliseconds(150))
        #expect(recorders.allSatisfy { text($0) == "1" }, "\(clock.now - start)")
    }

    /// After a removal no process uses the response, once the message has arrived.
    @Test func removed() throws {
        let processes = (0..<5).map { _ in process(tags: ["goods"]) }
        for process in processes {
            _ = get(process)
            try clock.run()
        }
        for selection in [CacheSelection.tag("goods"), .url("https://shop.test/goods"), .all] {
            server.withLock { $0.content += 1 }
            let content = server.withLock { "\($0.content)" }
            processes[0].cache.remove(selection).subscribe(onFailure: { Issue.record("\($0)") })
            // The swap, the message, and its way to the others.
            try clock.advance(by: .milliseconds(6))
            let recorders = processes.map { get($0) }
            try clock.run()
            #expect(recorders.map { text($0) } == Array(repeating: content, count: 5), "\(selection)")
        }
        #expect(requests == 4)
    }

    /// A response that was requested before a removal by another process is not stored.
    @Test func inFlight() throws {
        let (first, second) = (process(tags: ["goods"]), process(tags: ["goods"]))
        _ = get(second, "/other")
        try clock.run()
        let old = get(first)
        try clock.advance(by: .milliseconds(50))
        server.withLock { $0.content = 2 }
        second.cache.remove(.tag("goods")).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        #expect(text(old) == "1")
        let recorders = [first, second].map { get($0) }
        try clock.run()
        #expect(recorders.map { text($0) } == ["2", "2"])
    }

    /// A process that was cut off drops what it has in memory.
    @Test func cutOff() throws {
        let (first, second) = (process(tags: ["goods"]), process(tags: ["goods"]))
        for process in [first, second] {
            _ = get(process)
            try clock.run()
        }
        second.connection.isConnected = false
        server.withLock { $0.content = 2 }
        first.cache.remove(.tag("goods")).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        second.connection.isConnected = true
        let recorder = get(second)
        try clock.run()
        #expect(text(recorder) == "2")
    }

    /// An evicted epoch makes responses invalid, not valid again.
    @Test func evictedEpoch() throws {
        let first = process(tags: ["goods"])
        _ = get(first)
        try clock.run()
        let entry = try #require(store.keys.first { $0.hasPrefix("cache:r:") })
        let old = store[entry]
        server.withLock { $0.content = 2 }
        first.cache.remove(.tag("goods")).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        store[entry] = old
        for key in store.keys where key.hasPrefix("cache:e:") { store.evict(key) }
        let recorder = get(process(tags: ["goods"]))
        try clock.run()
        #expect(text(recorder) == "2")
    }

    // MARK: - Accounts

    /// Responses of an account are sealed, and only that account gets them.
    @Test func accounts() throws {
        let keys = try SealingKeys.test()
        let (anna, ben) = (process(keys: keys, account: "anna"), process(keys: keys, account: "ben"))
        _ = get(anna)
        try clock.run()
        server.withLock { $0.content = 2 }
        let other = get(ben)
        let same = get(process(keys: keys, account: "anna"))
        try clock.run()
        #expect(text(other) == "2")
        #expect(text(same) == "1")
        for key in store.keys {
            #expect(!key.contains("anna") && !key.contains("goods"))
            let text = String(decoding: store[key] ?? [], as: UTF8.self)
            #expect(!text.contains("anna") && !text.contains("goods"))
        }
    }

    /// Without keys responses of an account are not stored.
    @Test func unsealed() throws {
        for _ in 0..<2 {
            _ = get(process(account: "anna"))
            try clock.run()
        }
        #expect(requests == 2)
        #expect(!store.keys.contains { $0.hasPrefix("cache:r:") })
    }

    /// An entry in the place of another account's is a miss.
    @Test func moved() throws {
        let keys = try SealingKeys.test()
        let anna = process(keys: keys, account: "anna")
        _ = get(anna)
        try clock.run()
        let first = try #require(store.keys.first { $0.hasPrefix("cache:r:") })
        _ = get(process(keys: keys, account: "ben"))
        try clock.run()
        let second = try #require(store.keys.first { $0.hasPrefix("cache:r:") && $0 != first })
        store[second] = store[first]
        server.withLock { $0.content = 3 }
        let stranger = process(keys: keys, account: "ben")
        let recorder = get(stranger)
        try clock.run()
        #expect(text(recorder) == "3")
        #expect(stranger.shared.statistics.unsealable > 0)
    }

    /// A process with other keys misses, and its responses do not break those of the others.
    @Test func otherKeys() throws {
        let first = process(keys: try .test(1), account: "anna")
        _ = get(first)
        try clock.run()
        server.withLock { $0.content = 2 }
        let recorder = get(process(keys: try .test(2), account: "anna"))
        try clock.run()
        #expect(text(recorder) == "2")
    }

    // MARK: - Data that cannot be trusted

    /// Broken entries are misses.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func mutations(seed: UInt64) throws {
        let first = process()
        _ = get(first)
        try clock.run()
        let key = try #require(store.keys.first { $0.hasPrefix("cache:r:") })
        let bytes = try #require(store[key])
        var random = SeededRandom(seed)
        server.withLock { $0.content = 2 }
        let changed = bytes.mutated(by: &random)
        store[key] = changed
        let other = process()
        let recorder = get(other)
        try clock.run()
        // Of a list whose end is intact, nothing is lost.
        #expect(
            text(recorder) == "2" || (text(recorder) == "1" && other.shared.statistics.lastFailure == nil))
    }

    /// Garbage of any kind is a miss.
    @Test func garbage() throws {
        let bytes: [[UInt8]] = [
            [], [0], Array("RXV".utf8), Array("RXV".utf8) + [1, 0xFF, 0xFF, 0xFF, 0xFF],
            Array("RXV".utf8) + [9], Array("RXV".utf8) + [1] + Array(repeating: 0, count: 400),
            Array(repeating: 0xFF, count: 100_000),
        ]
        _ = get(process())
        try clock.run()
        let key = try #require(store.keys.first { $0.hasPrefix("cache:r:") })
        for (index, bytes) in bytes.enumerated() {
            server.withLock { $0.content = index + 10 }
            store[key] = bytes
            let recorder = get(process())
            try clock.run()
            #expect(text(recorder) == "\(index + 10)")
        }
    }

    /// A response larger than the limit is not stored.
    @Test func large() throws {
        let cache = SharedCacheStore(in: store, entryLimit: 1000, clock: clock)
        let key = CacheKey(rules: .time, url: "https://shop.test/a")
        let metadata = CacheEntry.Metadata(
            key: key, head: ResponseHead(status: .ok),
            freshness: CacheFreshness(date: clock.date, lifetime: 60))
        for (size, isStored) in [(100, true), (5000, false)] {
            cache.store(CacheEntry(metadata, body: Array(repeating: 1, count: size)))
                .subscribe(onFailure: { Issue.record("\($0)") })
            try clock.run()
            let found = Recorder(cache.entries(for: key), on: clock)
            try clock.run()
            #expect(found.values.first?.isEmpty == !isStored)
        }
    }

    /// A response that is fresh for ever is stored, and kept longer than a stale one.
    @Test func infiniteLifetime() throws {
        let caches = (0..<2).map { _ in SharedCacheStore(in: store, fetchTime: .zero, clock: clock) }
        let key = CacheKey(rules: .time, url: "https://shop.test/a")
        let metadata = CacheEntry.Metadata(
            key: key, head: ResponseHead(status: .ok),
            freshness: CacheFreshness(date: clock.date, lifetime: .infinity))
        caches[0].store(CacheEntry(metadata, body: [1])).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .seconds(86_400))
        let found = Recorder(caches[1].entries(for: key), on: clock)
        try clock.run()
        #expect(found.values.first?.map(\.metadata.freshness.lifetime) == [.infinity])
    }

    /// Variants of a key are kept apart, and updated, and the latest sixteen of them stay.
    @Test func variants() throws {
        let cache = SharedCacheStore(in: store, fetchTime: .zero, clock: clock)
        let key = CacheKey(rules: .http, url: "https://shop.test/a")
        func entry(_ language: String, _ body: String) -> CacheEntry {
            CacheEntry(
                CacheEntry.Metadata(
                    key: key, variant: CacheVariant(["accept-language": language]),
                    head: ResponseHead(status: .ok), freshness: CacheFreshness(date: clock.date, lifetime: 60)
                ),
                body: Array(body.utf8))
        }
        func found() throws -> [String] {
            let recorder = Recorder(cache.entries(for: key), on: clock)
            try clock.run()
            return try #require(recorder.values.first).map { String(decoding: $0.body, as: UTF8.self) }
                .sorted()
        }
        for (language, body) in [("de", "a"), ("en", "b"), ("de", "c")] {
            cache.store(entry(language, body)).subscribe(onFailure: { Issue.record("\($0)") })
            try clock.run()
        }
        #expect(try found() == ["b", "c"])
        var updated = entry("de", "c").metadata
        updated.tags = ["new"]
        cache.update(updated).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        #expect(try found() == ["b", "c"], "another id is another response")
        for number in 0..<30 {
            cache.store(entry("l\(number)", "\(number)")).subscribe(onFailure: { Issue.record("\($0)") })
            try clock.run()
        }
        #expect(try found().count == VariantList.maxVariants)
        let last = entry("x", "x")
        cache.store(last).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        let removed = Recorder(cache.remove(.id(last.metadata.id)), on: clock)
        try clock.run()
        #expect(removed.values == [1])
        #expect(try !found().contains("x"))
    }

    // MARK: - Rules

    /// An epoch that a removal has replaced is not learnt from an earlier read.
    @Test func epochs() {
        var table = EpochTable()
        let start = table.now
        #expect(table.isCurrent(["a": 1]) == nil)
        table.replace("a", by: 2)
        let first = table.learn("a", 1, since: start)
        #expect(!first)
        #expect(table.isCurrent(["a": 1]) == false)
        #expect(table.isCurrent(["a": 2]) == true)
        let another = table.learn("b", 5, since: start)
        #expect(another, "another one may be learnt")
        #expect(table.isCurrent(["a": 2, "b": 5]) == true)
        #expect(table.isCurrent(["a": 2, "b": 4]) == false)
        let moment = table.now
        table.forgetAll()
        #expect(table.isCurrent(["a": 2]) == nil)
        let late = table.learn("a", 2, since: moment)
        #expect(!late)
        let again = table.learn("a", 3, since: table.now)
        #expect(again)
        #expect(table.unknown(["a", "b"]) == ["b"])
    }

    /// A full table keeps what has just been learned: a response with three epochs can be stored whenever they are read.
    @Test func latestEpochs() {
        var table = EpochTable()
        for number in 0..<20_000 {
            let names = (0..<3).map { "\(number) \($0)" }
            let start = table.now
            for name in names { _ = table.learn(name, 1, since: start) }
            guard table.known(names).count < 3 || table.isCurrent(["\(number) 0": 1]) != true else {
                continue
            }
            Issue.record("the epochs of response \(number) are gone")
            return
        }
        // A removal counts for those that are older, too.
        table.replace("19000 0", by: 2)
        #expect(table.isCurrent(["19000 0": 1]) == false)
    }

    /// A table that is full forgets, and keeps nothing that is wrong.
    @Test func manyEpochs() {
        var table = EpochTable()
        let start = table.now
        for number in 0..<25_000 { table.replace("\(number)", by: 1) }
        let full = table.learn("0", 9, since: start)
        #expect(!full)
        #expect(table.isCurrent(["24999": 1]) == true)
        // Of removals alone, without a read in between, it keeps no more than of reads.
        #expect(table.known((0..<25_000).map { "\($0)" }).count <= 10_000)
    }

    /// Fetches that store nothing are not waited for during a minute.
    @Test func fetches() {
        var memory = FetchMemory()
        #expect(memory.isWorthWaiting(for: "a", at: .zero))
        memory.recordFailure(of: "a", at: .zero)
        #expect(!memory.isWorthWaiting(for: "a", at: .seconds(59)))
        #expect(memory.isWorthWaiting(for: "a", at: .seconds(60)))
        memory.recordSuccess(of: "a")
        #expect(memory.isWorthWaiting(for: "a", at: .zero))
    }
}
#endif
