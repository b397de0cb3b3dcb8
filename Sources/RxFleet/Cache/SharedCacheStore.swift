#if Fleet
import FoundationEssentials
public import RxCache
import RxClient
public import RxHTTP
public import RxLite
import Synchronization

/// Stores responses for all processes of a fleet; the second tier of a `TieredCacheStore`.
///
/// ```swift
/// let store = TieredCacheStore(over: SharedCacheStore(in: shared, sealing: keys))
/// configuration.cache = ResponseCache(store: store)
/// ```
///
/// A removal in one process reaches the others by push: their memory tiers drop the same responses, and what they have in
/// flight is not stored. Without a connection to the store, the memory tiers are emptied, because a removal may be missed.
/// Of several processes that miss a response at the same time, one fetches it, and the others wait for it a short time.
///
/// Responses of an account are sealed with a key derived from the account; without ``SealingKeys`` they are not stored.
/// Data in the store is not trusted: what is corrupt, of a later format, of another account, or sealed with another key is
/// a miss. Thread-safe.
public final class SharedCacheStore: CacheStore {
    // Each response carries the epochs of the selections it belongs to (see EpochTable); a removal replaces an epoch, which
    // invalidates every response that carries the old one.

    private let shared: any SharedStore
    private let clock: any Scheduler
    private let keys: SealingKeys?
    private let names: CacheNames
    private let entryLimit: Int
    private let retention: Duration
    private let fetchTime: Duration
    /// Marks the removals of this process, which ``follow(_:)`` drops.
    private let writer = RandomSource.number()
    private let subscriptions = SubscriptionBag()
    private let contents = Mutex(Contents())
    private let signal = Signal<FleetEvent>()
    private let invalidated = Signal<CacheSelection>()
    /// ``statistics``.
    private let failures = MutableProperty(SharedCacheStatistics())

    private struct Contents {
        var epochs = EpochTable()
        var fetches = FetchMemory()
        /// Whether removals by others arrive.
        var isFollowing = false
        /// The keys of responses stored here, by their ids, for removals by id.
        var storedKeys: [UUID: CacheKey] = [:]
        /// Whether the channel has told its state before: only then can `connected` mean missed removals.
        var hasStarted = false
    }

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - store: the store that the processes share.
    ///   - keys: the keys from which those of accounts are derived. Default `nil`: responses of accounts are not stored.
    ///   - name: keeps several caches in one store apart. Default `cache`.
    ///   - entryLimit: the most bytes of all variants of a response. Default 1 MiB.
    ///   - retention: how long a response is kept after it has become stale, to be revalidated. Default one hour.
    ///   - fetchTime: how long a process waits for the fetch of another. Default 2 s; zero: never.
    ///   - clock: the clock of that time. Default: the library's shared clock.
    public init(
        in store: any SharedStore, sealing keys: SealingKeys? = nil, name: String = "cache",
        entryLimit: Int = 1 << 20, retention: Duration = .seconds(3600), fetchTime: Duration = .seconds(2),
        clock: (any Scheduler)? = nil
    ) {
        shared = store
        self.clock = clock ?? ActorScheduler.shared
        // Other processes derive the same keys and names: what is in the store depends on these texts.
        self.keys = keys?.derived(for: name)
        self.entryLimit = entryLimit
        self.retention = retention
        self.fetchTime = fetchTime
        names = CacheNames(prefix: name + ":")
        // `remove(_:)` seals for this channel and publishes to it.
        let channel = name + ":removals"
        let codec = RemovalCodec(keys: self.keys, channel: channel)
        store.messages(of: channel).map { codec.event($0) }.subscribe { [weak self] event in
            self?.follow(event)
        }.store(in: subscriptions)
    }

    /// The removals by other processes, and when the store is lost and found again, from the time of subscription.
    public var events: Observable<FleetEvent, Never> { signal.observable }

    /// The entries that could not be used, and the failures of the store so far.
    public var statistics: SharedCacheStatistics { failures.value }

    /// The contents, which a shared store does not count.
    public var usage: CacheUsage { CacheUsage() }

    /// The removals by other processes; `all` when removals may have been missed.
    public var invalidations: Observable<CacheSelection, Never> { invalidated.observable }

    private func follow(_ event: Removal) {
        switch event {
        case .connected:
            let isBack = contents.withLock { contents in
                defer { (contents.isFollowing, contents.hasStarted) = (true, true) }
                contents.epochs.forgetAll()
                return contents.hasStarted
            }
            guard isBack else { return }
            // What this process has stored in the meantime may have been removed by others.
            invalidated.send(.all)
            signal.send(.recovered)
        case .disconnected:
            let wasFollowing = contents.withLock { contents in
                defer { (contents.isFollowing, contents.hasStarted) = (false, true) }
                contents.epochs.forgetAll()
                return contents.isFollowing
            }
            guard wasFollowing else { return }
            signal.send(.degraded(NetworkError(.connectionLost, "the connection to the store is lost")))
            invalidated.send(.all)
        case .unreadable:
            // Something has been removed that this process cannot know.
            failures.update { $0.unreadable += 1 }
            contents.withLock { $0.epochs.forgetAll() }
            invalidated.send(.all)
        case .removal(let selection, let epoch, let by):
            guard by != writer else { return }
            contents.withLock { contents in
                if let name = names.epoch(of: selection) { contents.epochs.replace(name, by: epoch) }
            }
            invalidated.send(selection)
            signal.send(.invalidation(selection))
        }
    }

    // MARK: - Lookups

    /// All variants of a key that are valid, the latest first. Waits a short time if another process fetches the response.
    public func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        found(for: key).flatMap(.concat) { [self] entries -> Observable<[CacheEntry], NetworkError> in
            guard entries.isEmpty, isStorable(key), fetchTime > .zero else { return .just(entries) }
            return joinFetch(of: key)
        }
    }

    private func found(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        guard isStorable(key) else { return .just([]) }
        let entryName = names.entryName(of: key)
        return countingFailures(shared.read(entryName)).flatMap(.concat) {
            [self] entry -> Observable<[CacheEntry], NetworkError> in
            let responses = entry.map { read($0.bytes, of: key, at: entryName) } ?? []
            guard !responses.isEmpty else { return .just([]) }
            return epochs(Set(responses.flatMap { $0.epochs.keys }).sorted()).map { current in
                responses.filter { response in response.epochs.allSatisfy { current[$0] == $1 } }.map(\.entry)
                    .sorted { $0.metadata.freshness.date > $1.metadata.freshness.date }
            }
        }
    }

    /// The variants in an entry that can be read, and that are responses to this key.
    private func read(_ bytes: [UInt8], of key: CacheKey, at entryName: String) -> [StoredResponse] {
        let list: VariantList
        do throws(NetworkError) { list = try VariantList(bytes, at: entryName) } catch {
            record(error)
            return []
        }
        return list.variants.compactMap { bytes in
            do throws(NetworkError) {
                let response = try StoredResponse(bytes, at: entryName, unsealing: accountKeys(key))
                // Digests of names may collide, if by malice.
                guard response.entry.metadata.key == key else {
                    throw NetworkError(
                        .corruptEntry, "the entry \(entryName) is the response to another request")
                }
                return response
            } catch {
                record(error)
                return nil
            }
        }
    }

    /// The keys of a response's account; `nil` if it has none. With another text, stored responses cannot be unsealed.
    private func accountKeys(_ key: CacheKey) -> SealingKeys? {
        key.identity.isEmpty ? nil : keys?.derived(for: "account " + key.identity)
    }

    private func isStorable(_ key: CacheKey) -> Bool { key.identity.isEmpty || keys != nil }

    /// The epochs with these names, without those that a removal replaces meanwhile. Reads the unknown ones; those that do
    /// not exist begin.
    private func epochs(_ wanted: [String]) -> Observable<[String: UInt64], NetworkError> {
        let (known, unknown, start) = contents.withLock { contents in
            // Without messages an epoch is known only for the moment.
            if !contents.isFollowing { contents.epochs.forgetKnown() }
            return (contents.epochs.known(wanted), contents.epochs.unknown(wanted), contents.epochs.now)
        }
        guard !unknown.isEmpty else { return .just(known) }
        return Observable.merge(unknown.map { name in countingFailures(epoch(name)).map { (name, $0) } })
            .collect()
            .map { [self] found in
                contents.withLock { contents in
                    var epochs = known.filter { contents.epochs.isCurrent([$0: $1]) != false }
                    for (name, epoch) in found where contents.epochs.learn(name, epoch, since: start) {
                        epochs[name] = epoch
                    }
                    return epochs
                }
            }
    }

    private func epoch(_ name: String, repetitions: Int = 3) -> Observable<UInt64, NetworkError> {
        shared.read(name).flatMap(.concat) { [self] entry -> Observable<UInt64, NetworkError> in
            if let entry, let epoch = Self.epoch(entry.bytes) { return .just(epoch) }
            let new = RandomSource.number()
            return shared.swap(
                name, to: Self.bytes(of: new), expecting: entry.map { .exactly($0.version) } ?? .absent,
                under: nil,
                for: Self.epochTime
            ).flatMap(.concat) { [self] result -> Observable<UInt64, NetworkError> in
                if case .swapped = result { return .just(new) }
                guard repetitions > 0 else {
                    return .fail(NetworkError(.superseded, "other processes change the epoch \(name)"))
                }
                return epoch(name, repetitions: repetitions - 1)
            }
        }
    }

    /// Longer than any response is kept. A response whose epoch is gone is not used.
    private static let epochTime = Duration.seconds(30 * 86400)
    private static let maxRetention = Duration.seconds(7 * 86400)

    // The form of an epoch in the store, the same in all releases.

    private static func bytes(of epoch: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: epoch >> (56 - $0 * 8)) }
    }

    private static func epoch(_ bytes: [UInt8]) -> UInt64? {
        bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    // MARK: - Joined fetches

    /// Nothing, for the process that is to fetch the response; for the others what that one stores.
    private func joinFetch(of key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        let name = names.fetch(of: key)
        let now = clock.now
        guard contents.withLock({ $0.fetches.isWorthWaiting(for: name, at: now) }) else { return .just([]) }
        // Only the presence of the entry counts; nobody reads its content.
        let begins = shared.swap(
            name, to: Self.bytes(of: writer), expecting: .absent, under: nil, for: fetchTime)
        return countingFailures(begins).flatMap(.concat) {
            [self] result -> Observable<[CacheEntry], NetworkError> in
            guard case .swapped = result else { return awaitFetch(named: name, of: key) }
            // Another process may have ended its fetch since this one has looked.
            return found(for: key).flatMap(.concat) {
                [self] entries -> Observable<[CacheEntry], NetworkError> in
                entries.isEmpty ? .just([]) : endFetch(of: key).map { entries }
            }
        }
    }

    private func awaitFetch(named name: String, of key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        // Looks again once the messages arrive, in case the response was stored before.
        let stored = shared.messages(of: name).filter { $0 != .disconnected }
            .setFailureType(to: NetworkError.self)
            .flatMap(.latest) { [self] _ in found(for: key) }
            .filter { !$0.isEmpty }
        // Looks once more at the end: the message may be late, and a read costs less than a second fetch.
        let over = Observable<Void, Never>.timer(fetchTime, on: clock).setFailureType(to: NetworkError.self)
            .flatMap(.concat) { [self] () in found(for: key) }
            .map { [self] entries -> [CacheEntry] in
                let now = clock.now
                if entries.isEmpty { contents.withLock { $0.fetches.recordFailure(of: name, at: now) } }
                return entries
            }
        return Observable.merge(stored, over).take(1)
    }

    // MARK: - Changes

    /// Stores a response for all processes. A response of an account without keys, and one that is too large, is not stored.
    public func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        let key = entry.metadata.key
        guard isStorable(key) else { return .just(()) }
        let wanted = names.epochs(of: key, tags: entry.metadata.tags)
        return epochs(wanted).flatMap(.concat) { [self] epochs -> Observable<Void, NetworkError> in
            // A removal meanwhile; the response may be older.
            guard epochs.count == wanted.count else { return .just(()) }
            return change(key, lifetime: lifetime(of: entry)) { responses in
                responses.removeAll { $0.entry.metadata.replaces(entry.metadata) }
                responses.insert(StoredResponse(epochs: epochs, entry: entry), at: 0)
            }
        }
        .flatMap(.concat) { [self] () -> Observable<Void, NetworkError> in
            contents.withLock { contents in
                if contents.storedKeys.count >= 4096 { contents.storedKeys = [:] }
                contents.storedKeys[entry.metadata.id] = key
            }
            return endFetch(of: key)
        }
    }

    private func endFetch(of key: CacheKey) -> Observable<Void, NetworkError> {
        let name = names.fetch(of: key)
        contents.withLock { $0.fetches.recordSuccess(of: name) }
        guard fetchTime > .zero else { return .just(()) }
        return Observable<Void, NetworkError>.concat([
            countingFailures(shared.swap(name, to: nil, expecting: .any, under: nil, for: nil))
                .ignoreElements(as: Void.self),
            // Any message will do: `awaitFetch` then looks into the store.
            countingFailures(shared.publish([1], to: name)),
        ])
        .catch { _ in .just(()) }
    }

    /// How long the store keeps a response: while it is fresh or may be used stale, and a while to be revalidated.
    private func lifetime(of entry: CacheEntry) -> Duration {
        let freshness = entry.metadata.freshness
        let useful =
            freshness.lifetime - freshness.initialAge
            + max(freshness.staleWhileRevalidate, freshness.staleIfError)
        let seconds = useful.isNaN ? 0 : min(max(useful, 0), Self.maxRetention / .seconds(1))
        return min(.seconds(seconds) + retention, Self.maxRetention)
    }

    /// Replaces the metadata of a response, and keeps its body.
    public func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        guard isStorable(metadata.key) else { return .just(()) }
        let lifetime = lifetime(of: CacheEntry(metadata, body: []))
        return change(metadata.key, lifetime: lifetime) { responses in
            for index in responses.indices where responses[index].entry.metadata.id == metadata.id {
                responses[index].entry.metadata = metadata
            }
        }
    }

    /// Reads, changes and swaps the variants of a key; repeats after another process's write. A variant whose metadata is
    /// too large leaves the entry as it was; a list over `entryLimit` removes the entry.
    private func change(
        _ key: CacheKey, lifetime: Duration, repetitions: Int = 3,
        _ change: @escaping @Sendable (inout [StoredResponse]) -> Void
    ) -> Observable<Void, NetworkError> {
        let entryName = names.entryName(of: key)
        return countingFailures(shared.read(entryName)).flatMap(.concat) {
            [self] found -> Observable<Void, NetworkError> in
            var responses = found.map { read($0.bytes, of: key, at: entryName) } ?? []
            change(&responses)
            var list = VariantList()
            do throws(NetworkError) {
                for response in responses {
                    list.variants.append(try response.bytes(at: entryName, sealing: accountKeys(key)))
                }
            } catch {
                return error.code == .tooLarge ? .just(()) : .fail(error)
            }
            list.limit(to: entryLimit)
            let bytes: [UInt8]? =
                list.variants.isEmpty || list.bytes.count > entryLimit ? nil : list.bytes
            if bytes == nil && found == nil { return .just(()) }
            return countingFailures(
                shared.swap(
                    entryName, to: bytes, expecting: found.map { .exactly($0.version) } ?? .absent,
                    under: nil,
                    for: lifetime)
            ).flatMap(.concat) { [self] result -> Observable<Void, NetworkError> in
                if case .swapped = result { return .just(()) }
                guard repetitions > 0 else { return .just(()) }
                return self.change(key, lifetime: lifetime, repetitions: repetitions - 1, change)
            }
        }
    }

    /// Removes responses in all processes. The number is not known: 0, or 1 for a single response.
    public func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        guard let name = names.epoch(of: selection) else {
            guard case .id(let id) = selection, let key = contents.withLock({ $0.storedKeys[id] }) else {
                return .just(0)
            }
            return change(key, lifetime: retention) { responses in
                responses.removeAll { $0.entry.metadata.id == id }
            }
            .map { 1 }
        }
        return .deferred { [self] () throws(NetworkError) in
            let epoch = RandomSource.number()
            contents.withLock { $0.epochs.replace(name, by: nil) }
            // The channel to which `init` listens.
            let codec = RemovalCodec(keys: keys, channel: names.prefix + "removals")
            let message = try codec.message(selection, epoch, by: writer)
            let replaced = shared.swap(
                name, to: Self.bytes(of: epoch), expecting: .any, under: nil, for: Self.epochTime)
            return countingFailures(replaced).flatMap(.concat) { [self] _ -> Observable<Int, NetworkError> in
                // A lookup may have read the former epoch in the meantime.
                contents.withLock { $0.epochs.replace(name, by: epoch) }
                return countingFailures(shared.publish(message, to: names.prefix + "removals")).map { 0 }
            }
        }
    }

    // MARK: - Failures

    private func countingFailures<Value>(
        _ command: Observable<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        command.handleEvents(onEnd: { [failures] completion in
            if case .failed = completion { failures.update { $0.failedCommands += 1 } }
        })
    }

    private func record(_ error: NetworkError) {
        failures.update { statistics in
            switch error.code {
            case .laterFormat: statistics.laterFormats += 1
            case .unsealable: statistics.unsealable += 1
            default: statistics.corrupt += 1
            }
            statistics.lastFailure = error
        }
    }
}

/// The failures of a ``SharedCacheStore`` since its creation. None of them fails a request.
public struct SharedCacheStatistics: Sendable {
    /// Commands that the store did not carry out.
    public internal(set) var failedCommands = 0
    /// Entries that are not responses, or not those to their request, or have a wrong checksum.
    public internal(set) var corrupt = 0
    /// Entries of a later version of this library.
    public internal(set) var laterFormats = 0
    /// Entries that are sealed with another key, or for another account.
    public internal(set) var unsealable = 0
    /// Messages of removals that cannot be read.
    public internal(set) var unreadable = 0
    /// The latest entry that could not be used.
    public internal(set) var lastFailure: NetworkError?
}

/// An event of the channel of removals.
enum Removal: Sendable {
    case connected
    case disconnected
    case removal(CacheSelection, epoch: UInt64, by: UInt64)
    case unreadable
}

/// The messages of removals: sealed where the cache has keys, since a URL or a tag may be a secret.
struct RemovalCodec: Sendable {
    let keys: SealingKeys?
    let channel: String

    // JSON by the names of the properties, which processes of other releases read.
    fileprivate struct Message: Codable {
        var kind: String
        var value: String
        var epoch: UInt64
        var writer: UInt64
    }

    func message(_ selection: CacheSelection, _ epoch: UInt64, by writer: UInt64) throws(NetworkError)
        -> [UInt8]
    {
        // Sent to processes of other releases, too; `Message.selection` reads these words.
        let (kind, value) =
            switch selection {
            case .all: ("all", "")
            case .id(let id): ("id", id.uuidString)
            case .url(let url): ("url", url)
            case .resource(let url): ("resource", url)
            case .anyQuery(of: let url): ("place", url)
            case .tag(let tag): ("tag", tag)
            case .identity(let identity): ("identity", identity)
            }
        let plain: [UInt8]
        do {
            plain = Array(
                try JSONEncoder().encode(Message(kind: kind, value: value, epoch: epoch, writer: writer)))
        } catch { throw NetworkError(.corruptEntry, "the removal cannot be encoded: \(error)") }
        guard let keys else { return plain }
        return try SealedForm.seal(plain, as: .removal, at: channel, with: keys.current)
    }

    func event(_ message: SharedMessage) -> Removal {
        switch message {
        case .connected: return .connected
        case .disconnected: return .disconnected
        case .message(let bytes):
            let plain: [UInt8]
            do throws(NetworkError) {
                plain =
                    try keys.map { keys throws(NetworkError) in
                        try SealedForm.unseal(bytes, as: .removal, at: channel, with: keys)
                    } ?? bytes
            } catch { return .unreadable }
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(plain)),
                let selection = message.selection
            else { return .unreadable }
            return .removal(selection, epoch: message.epoch, by: message.writer)
        }
    }
}

extension RemovalCodec.Message {
    /// The selection by the words of ``RemovalCodec/message(_:_:by:)``; `nil` for a kind that a later release has
    /// added.
    fileprivate var selection: CacheSelection? {
        switch kind {
        case "all": .all
        case "id": UUID(uuidString: value).map(CacheSelection.id)
        case "url": .url(value)
        case "resource": .resource(value)
        case "place": .anyQuery(of: value)
        case "tag": .tag(value)
        case "identity": .identity(value)
        default: nil
        }
    }
}
#endif
