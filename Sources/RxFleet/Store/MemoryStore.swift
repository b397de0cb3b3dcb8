#if Fleet
import RxClient
public import RxHTTP
public import RxLite
import Synchronization

/// A store in memory, for the processes of a simulation and for tests.
///
/// Each simulated process has its own connection; ``connection(on:latency:)`` makes one more to the same data. A connection
/// can be cut (``isConnected``), and can lose replies (``losesReplies``): a command that has been executed then fails.
public final class MemoryStore: SharedStore {
    private let data: SharedData
    private let scheduler: any Scheduler
    private let latency: Duration

    /// The state of one connection.
    private struct Connection {
        var isConnected = true
        var losesReplies = false
        var subscriptions: [Int: Emitter<SharedMessage, Never>] = [:]
        var commandCount = 0
    }

    private let state = Mutex(Connection())

    /// Creates an empty store, and a connection to it.
    ///
    /// - Parameters:
    ///   - scheduler: the time of the store and of the connection.
    ///   - latency: the time that a command takes in each direction. Default zero.
    public convenience init(on scheduler: any Scheduler, latency: Duration = .zero) {
        self.init(SharedData(on: scheduler), scheduler, latency)
    }

    private init(_ data: SharedData, _ scheduler: any Scheduler, _ latency: Duration) {
        self.data = data
        self.scheduler = scheduler
        self.latency = latency
    }

    /// Another connection to the same data.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler of the process that has the connection.
    ///   - latency: the time that a command takes in each direction. Default zero.
    public func connection(on scheduler: any Scheduler, latency: Duration = .zero) -> MemoryStore {
        MemoryStore(data, scheduler, latency)
    }

    /// Whether commands and messages get through.
    public var isConnected: Bool {
        get { state.withLock { $0.isConnected } }
        set {
            let (changed, emitters) = state.withLock { state in
                let changed = state.isConnected != newValue
                state.isConnected = newValue
                return (changed, state.subscriptions.sorted { $0.key < $1.key }.map(\.value))
            }
            guard changed else { return }
            for emitter in emitters { emitter.send(newValue ? .connected : .disconnected) }
        }
    }

    /// Whether replies to commands that have been executed are lost.
    public var losesReplies: Bool {
        get { state.withLock { $0.losesReplies } }
        set { state.withLock { $0.losesReplies = newValue } }
    }

    /// The number of commands of this connection so far. `explore --fleet-cost` counts by it; the cost tables of
    /// Fleets.md have the results.
    public var commandCount: Int { state.withLock { $0.commandCount } }

    /// Removes an entry, as a store does that has no memory left.
    public func evict(_ key: String) { data.contents.withLock { $0.entries[key] = nil } }

    /// The content of an entry, or another one in its place, as by a store that lies.
    public subscript(key: String) -> [UInt8]? {
        get { data.contents.withLock { $0.entries[key]?.bytes } }
        set { _ = data.contents.withLock { $0.write(key, newValue, until: nil) } }
    }

    /// The keys of all entries, sorted.
    public var keys: [String] { data.contents.withLock { $0.entries.keys.sorted() } }

    /// Loses all data, as a store does that is started again without it: entries, leases and budgets. Subscriptions stay, and
    /// fencing numbers and versions grow on.
    public func loseData() {
        let lost = data.contents.withLock { contents in
            let lost = (contents.leases, contents.waiting)
            contents.entries = [:]
            contents.budgets = [:]
            contents.leases = [:]
            contents.waiting = [:]
            // What was leased before is fenced.
            for name in contents.fences.keys { contents.fences[name, default: 0] += 1 }
            return lost
        }
        for request in lost.1.values.joined().sorted(by: { $0.number < $1.number }) {
            request.emitter.fail(Self.failure)
        }
        withExtendedLifetime(lost) {}
    }

    /// Removes all data, with leases and subscriptions, and refuses all commands of all connections from then on.
    public func shutDown() {
        let contents = data.contents.withLock { contents in
            defer {
                contents = SharedData.Contents()
                contents.isShutDown = true
            }
            return contents
        }
        withExtendedLifetime(contents) {}
    }

    // MARK: - Commands

    /// Sends a command, and returns what the store replies.
    ///
    /// - Parameters:
    ///   - check: throws if the command is not one.
    ///   - execute: executes the command, under a lock.
    ///   - effect: called once the command is executed, even if the reply is lost.
    private func command<Value: Sendable>(
        checking check: @escaping @Sendable () throws(NetworkError) -> Void,
        _ execute: @escaping @Sendable (inout SharedData.Contents, _ now: Duration) -> Value,
        effect: @escaping @Sendable (Value) -> Void = { _ in }
    ) -> Observable<Value, NetworkError> {
        let way = Observable<Void, Never>.timer(latency, on: scheduler).setFailureType(to: NetworkError.self)
        return .deferred { [self] () throws(NetworkError) in
            try check()
            guard !data.isShutDown else { throw Self.failure }
            state.withLock { $0.commandCount += 1 }
            return way.map { [self] () throws(NetworkError) in
                guard isConnected else { throw Self.failure }
                let now = data.clock.now
                let value: Value? = data.contents.withLock { $0.isShutDown ? nil : execute(&$0, now) }
                guard let value else { throw Self.failure }
                effect(value)
                return value
            }
            .flatMap(.concat) { [self] (value: Value) in
                way.map { [self] () throws(NetworkError) in
                    guard isConnected, !losesReplies else { throw Self.failure }
                    return value
                }
            }
        }
    }

    private static var failure: NetworkError {
        NetworkError(.connectionLost, "the connection to the store is lost")
    }

    /// Reads an entry.
    public func read(_ key: String) -> Observable<SharedEntry?, NetworkError> {
        command { () throws(NetworkError) in
            try StoreRules.check(name: key)
        } _: { contents, now in
            contents.entry(key, at: now).map { SharedEntry(bytes: $0.bytes, version: $0.version) }
        }
    }

    /// Replaces an entry if it has the expected version and its lease has not been followed by another.
    public func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError> {
        command { () throws(NetworkError) in
            try StoreRules.check(name: key)
            if let bytes { try StoreRules.check(entry: bytes) }
        } _: { contents, now in
            // `StoreTable.swap` and `RedisScript.swap` refuse the same, and a lease that they do not know.
            if let lease, contents.fences[lease.name, default: 0] > lease.fence { return .fenced }
            let version = contents.entry(key, at: now)?.version
            switch expected {
            case .any: break
            case .absent: if version != nil { return .conflict }
            case .exactly(let wanted): if version != wanted { return .conflict }
            }
            let end = lifetime.map { now + StoreRules.lifetime($0) }
            return .swapped(version: contents.write(key, bytes, until: end))
        }
    }

    /// Takes from a budget, by the generic cell rate algorithm.
    public func take(
        _ count: Int, from key: String, _ budget: SharedBudget
    ) -> Observable<BudgetReply, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let rate = try CellRate(budget, taking: count)
            return command { () throws(NetworkError) in
                try StoreRules.check(name: key)
            } _: { contents, now in
                let (reply, full) = rate.take(from: contents.budgets[key], at: now)
                if let full { contents.budgets[key] = full }
                return reply
            }
        }
    }

    /// Sends a message to the connections that are not cut.
    public func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError> {
        command { () throws(NetworkError) in
            try StoreRules.check(name: channel)
            try StoreRules.check(message: message)
        } _: { contents, _ in
            contents.listeners[channel, default: []]
        } effect: { (listeners: [Listener]) in
            for listener in listeners { listener.receive(message) }
        }
        .map { _ in }
    }

    /// The messages of a channel; those sent while the connection is cut are missed.
    public func messages(of channel: String) -> Observable<SharedMessage, Never> {
        .create { [self] emitter in
            guard (try? StoreRules.check(name: channel)) != nil else { return emitter.send(.disconnected) }
            let number = data.contents.withLock { contents in
                contents.count += 1
                return contents.count
            }
            let listener = Listener(number: number) { [weak self] message in
                guard let self else { return }
                _ = scheduler.schedule(after: latency) { [weak self] in
                    if self?.isConnected == true { emitter.send(.message(message)) }
                }
            }
            data.contents.withLock { contents in
                if !contents.isShutDown { contents.listeners[channel, default: []].append(listener) }
            }
            let isConnected = state.withLock { state in
                state.subscriptions[number] = emitter
                return state.isConnected
            }
            emitter.onClose { [weak self] in
                _ = self?.state.withLock { $0.subscriptions.removeValue(forKey: number) }
                self?.data.contents.withLock { contents in
                    contents.listeners[channel, default: []].removeAll { $0.number == number }
                }
            }
            emitter.send(isConnected ? .connected : .disconnected)
        }
    }

    // MARK: - Leases

    /// A lease, granted in the order of the requests.
    public func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
        .create { [self] emitter in
            do throws(NetworkError) { try StoreRules.check(name: name) } catch { return emitter.fail(error) }
            let time = StoreRules.leaseTime(time)
            guard !data.isShutDown else { return emitter.fail(Self.failure) }
            let request = data.contents.withLock { contents -> LeaseRequest in
                contents.count += 1
                return LeaseRequest(number: contents.count, time: time, store: self, emitter)
            }
            state.withLock { $0.commandCount += 1 }
            // A holder that does not know of its lease does not return it: as with a server, the lease then lasts its
            // time.
            emitter.onClose { [data, weak request] in
                guard let request else { return }
                request.stopExtending()
                if !request.isForgotten { data.leave(request, of: name) }
            }
            _ = scheduler.schedule(after: latency) { [self] in
                guard isConnected else { return emitter.fail(Self.failure) }
                data.enter(request, for: name)
            }
        }
    }

    /// One holder of a lease, or one that waits for it.
    private final class LeaseRequest: Sendable {
        let number: Int
        let time: Duration
        let store: MemoryStore
        let emitter: Emitter<SharedLease, NetworkError>
        /// Whether the reply that granted the lease was lost: it then lasts until its time is over.
        private let forgotten = Mutex(false)
        var isForgotten: Bool { forgotten.withLock { $0 } }
        /// The next extension, which holds the store and its clock.
        private let extending = Mutex<(any Cancellable)?>(nil)

        init(
            number: Int, time: Duration, store: MemoryStore, _ emitter: Emitter<SharedLease, NetworkError>
        ) {
            self.number = number
            self.time = time
            self.store = store
            self.emitter = emitter
        }

        /// The lease is granted; it is extended from the holder's process, as long as that runs.
        func grant(_ lease: SharedLease) {
            _ = store.scheduler.schedule(after: store.latency) { [self] in
                guard store.isConnected, !store.losesReplies else {
                    forgotten.withLock { $0 = true }
                    return emitter.fail(MemoryStore.failure)
                }
                emitter.send(lease)
            }
            extend(lease)
        }

        private func extend(_ lease: SharedLease) {
            let timer = store.scheduler.schedule(after: time / 3) { [self] in
                guard !emitter.isCancelled else { return }
                if store.isConnected, !store.data.extend(lease, for: time, by: number) {
                    return emitter.fail(
                        NetworkError(.superseded, "the lease of \(lease.name) has ended"))
                }
                extend(lease)
            }
            extending.withLock { $0 = timer }
            if emitter.isCancelled { stopExtending() }
        }

        func stopExtending() { extending.withLock { $0.take() }?.cancel() }
    }

    private struct Listener: Sendable {
        let number: Int
        let receive: @Sendable ([UInt8]) -> Void
    }

    /// The data of all connections.
    private final class SharedData: Sendable {
        struct Entry {
            var bytes: [UInt8]
            var version: UInt64
            var end: Duration?
        }

        struct Lease {
            var holder: LeaseRequest
            var fence: UInt64
            var end: Duration
        }

        struct Contents {
            var isShutDown = false
            var count = 0
            var writes: UInt64 = 0
            var entries: [String: Entry] = [:]
            var fences: [String: UInt64] = [:]
            var leases: [String: Lease] = [:]
            var waiting: [String: [LeaseRequest]] = [:]
            var budgets: [String: Duration] = [:]
            var listeners: [String: [Listener]] = [:]

            mutating func entry(_ key: String, at now: Duration) -> Entry? {
                guard let entry = entries[key] else { return nil }
                guard let end = entry.end, end <= now else { return entry }
                entries[key] = nil
                return nil
            }

            @discardableResult
            mutating func write(_ key: String, _ bytes: [UInt8]?, until end: Duration?) -> UInt64 {
                writes += 1
                entries[key] = bytes.map { Entry(bytes: $0, version: writes, end: end) }
                return bytes == nil ? 0 : writes
            }

            /// Grants the lease to the first that waits, if it is free.
            mutating func grantNext(_ name: String, at now: Duration) -> (LeaseRequest, SharedLease)? {
                if let lease = leases[name], lease.end > now { return nil }
                leases[name] = nil
                guard let next = waiting[name]?.first else { return nil }
                waiting[name]?.removeFirst()
                fences[name, default: 0] += 1
                let lease = SharedLease(name: name, fence: fences[name] ?? 0)
                leases[name] = Lease(holder: next, fence: lease.fence, end: now + next.time)
                return (next, lease)
            }
        }

        let clock: any Scheduler
        let contents = Mutex(Contents())

        init(on clock: any Scheduler) { self.clock = clock }

        var isShutDown: Bool { contents.withLock { $0.isShutDown } }

        func enter(_ request: LeaseRequest, for name: String) {
            guard !request.emitter.isCancelled else { return }
            let isShutDown = contents.withLock { contents in
                if !contents.isShutDown { contents.waiting[name, default: []].append(request) }
                return contents.isShutDown
            }
            guard !isShutDown else { return request.emitter.fail(MemoryStore.failure) }
            grantNext(name)
        }

        func leave(_ request: LeaseRequest, of name: String) {
            contents.withLock { contents in
                contents.waiting[name]?.removeAll { $0 === request }
                if contents.leases[name]?.holder === request { contents.leases[name] = nil }
            }
            grantNext(name)
        }

        func extend(_ lease: SharedLease, for time: Duration, by number: Int) -> Bool {
            let now = clock.now
            return contents.withLock { contents in
                guard let held = contents.leases[lease.name], held.holder.number == number, held.end > now
                else { return false }
                contents.leases[lease.name]?.end = now + time
                return true
            }
        }

        private func grantNext(_ name: String) {
            let now = clock.now
            if let (request, lease) = contents.withLock({ $0.grantNext(name, at: now) }) {
                request.grant(lease)
            }
            // The end of a lease that is not extended passes it on.
            guard
                let end = contents.withLock({
                    $0.waiting[name]?.isEmpty == false ? $0.leases[name]?.end : nil
                })
            else { return }
            _ = clock.schedule(after: end - now) { [weak self] in self?.grantNext(name) }
        }
    }
}
#endif
