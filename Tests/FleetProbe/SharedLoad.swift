#if Fleet
import RxFleet
import RxNetworking
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The time of the machine that all its processes share.
private func now() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}

private func commandCount(of store: any SharedStore) -> Int { (store as? RedisStore)?.commandCount ?? 0 }

// MARK: - Limits

/// Shares a limit of 100 requests a second.
///
/// `members N` is answered when the fleet has N members; `send SECONDS` sends as many requests as the limit allows for that
/// time, and its outcome is `SUCCEEDED LIMITED FAILED COMMANDS`.
func shareLimit(over store: any SharedStore, as name: String, url: String) async throws {
    let fleet = Fleet(sharing: store, as: name, lifetime: .seconds(3))
    var configuration = ClientConfiguration(baseURL: url)
    configuration.options.retry = .never
    configuration.hostLimits = RequestLimits(rate: .perSecond(100)).shared(through: fleet.quota, scope: "key")
    let client = Client(configuration: configuration)
    fleet.events.subscribe { event in
        switch event {
        case .degraded: say("event degraded")
        case .recovered: say("event recovered")
        default: break
        }
    }
    fleet.join()
    say("ready")
    while let line = readLine() {
        let words = line.split(separator: " ")
        guard words.count == 2, let number = Int(words[1]) else { continue }
        if words[0] == "members" {
            _ = try await fleet.members.observable.filter { $0.count == number }.take(1).value()
            say("\(line) met")
            continue
        }
        let (commands, end) = (commandCount(of: store), now() + .seconds(number))
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while now() < end {
                        do throws(NetworkError) {
                            _ = try await client.get("/\(name)").value()
                            counts.add(\.succeeded)
                        } catch {
                            counts.add(error.status?.code == 429 ? \.limited : \.failed)
                        }
                    }
                }
            }
        }
        say("\(line) \(counts.text) \(commandCount(of: store) - commands)")
    }
}

private final class Counts: Sendable {
    struct Values {
        var succeeded = 0
        var limited = 0
        var failed = 0
    }

    private let values = Mutex(Values())

    func add(_ path: WritableKeyPath<Values, Int>) { values.withLock { $0[keyPath: path] += 1 } }

    var text: String { values.withLock { "\($0.succeeded) \($0.limited) \($0.failed)" } }
}

// MARK: - Cache

/// Shares a cache of the responses to URL/KEY, which are the number of the removals before them.
///
/// `fill N` requests the keys up to N, each once, and its outcome is the number of failures; `remove` removes all responses;
/// `watch SECONDS` requests random keys for that time. Its outcome is the number of requests, the number of those that began
/// after the push of a removal and had an older response, and for each removal the time at which the last request began
/// whose response was older.
func shareCache(over store: any SharedStore, as name: String, url: String) async throws {
    let fleet = Fleet(sharing: store, as: name)
    let shared = fleet.cache()
    let cache = ResponseCache(store: TieredCacheStore(over: shared))
    var configuration = ClientConfiguration(baseURL: url)
    configuration.options.retry = .never
    configuration.options.cachePolicy = .http
    configuration.options.tags = ["goods"]
    configuration.cache = cache
    let client = Client(configuration: configuration)
    let watch = CacheWatch()
    // Sent after the memory of this process has been told.
    shared.events.subscribe { event in
        if case .invalidation = event { watch.seeRemoval() }
    }
    // Until the messages of removals arrive.
    _ = try? await client.get("/0").value()
    say("ready")
    var keyCount = 1
    while let line = readLine() {
        let words = line.split(separator: " ")
        switch (words.first, words.count > 1 ? Int(words[1]) : nil) {
        case ("fill", let count?):
            keyCount = count
            let keys = WorkList(Array(0..<count).shuffled())
            let failures = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var failures = 0
                        while let key = keys.next() {
                            if (try? await client.get("/\(key)").value()) == nil { failures += 1 }
                        }
                        return failures
                    }
                }
                return await group.reduce(0, +)
            }
            say("\(line) \(failures)")
        case ("watch", let seconds?):
            let (end, count) = (now() + .seconds(seconds), keyCount)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while now() < end {
                            let (start, removals) = (now(), watch.removalCount)
                            let key = Int.random(in: 0..<count)
                            guard let response = try? await client.get("/\(key)").value(),
                                let found = Int(String(decoding: response.body, as: UTF8.self))
                            else { continue }
                            watch.see(found, startedAt: start, after: removals)
                        }
                    }
                }
            }
            say("\(line) \(watch.text)")
        case ("remove", nil):
            _ = try await cache.remove(.tag("goods")).value()
            watch.seeRemoval()
            say("\(line) \(now() / .milliseconds(1))")
        default: say("\(line) unknown")
        }
    }
}

private final class WorkList: Sendable {
    private let keys: Mutex<[Int]>

    init(_ keys: [Int]) { self.keys = Mutex(keys) }

    func next() -> Int? { keys.withLock { $0.popLast() } }
}

/// The removals that a process knows of, and the responses that were older.
private final class CacheWatch: Sendable {
    private struct Contents {
        var removals = 0
        var requests = 0
        var violations = 0
        /// By removal, when the last request began whose response was older.
        var latest: [Int: Duration] = [:]
    }

    private let contents = Mutex(Contents())

    var removalCount: Int { contents.withLock { $0.removals } }

    func seeRemoval() { contents.withLock { $0.removals += 1 } }

    func see(_ found: Int, startedAt start: Duration, after removals: Int) {
        contents.withLock { contents in
            contents.requests += 1
            if found < removals { contents.violations += 1 }
            let latest = max(contents.latest[found + 1] ?? .zero, start)
            contents.latest[found + 1] = latest
        }
    }

    var text: String {
        contents.withLock { contents in
            let times = contents.latest.sorted { $0.key < $1.key }
                .map { "\($0.key):\($0.value / .milliseconds(1))" }
            return "\(contents.requests) \(contents.violations) \(times.joined(separator: ","))"
        }
    }
}
#endif
