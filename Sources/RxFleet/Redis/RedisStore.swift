#if Fleet
public import RxCurl
public import RxHTTP
public import RxLite
public import RxLoop

/// A store in Redis 7 or Valkey, for processes on any number of machines.
///
/// ```swift
/// let store = try RedisStore("rediss://worker:secret@redis.internal:6379")
/// let fleet = Fleet(sharing: store, as: "worker 3")
/// ```
///
/// It has one connection, made with the first command, on which commands are pipelined. A connection that is lost is made
/// again, with growing waits of up to five seconds; until then commands fail at once. A command that was under way when the
/// connection was lost may have been executed; `NetworkError.isUnsent` says if it certainly was not.
///
/// Sentinel and Cluster are not supported: commands fail with `storeUnsupported`. Redis must not evict the keys of the
/// store, and must be the master. <doc:Redis> says what holds with replicas, and which permissions are needed.
/// Thread-safe.
public final class RedisStore: SharedStore {
    /// The settings of a store.
    public struct Configuration: Sendable {
        /// The name of the store, with which all its keys and channels begin: `{name}:`. The processes of a fleet have the
        /// same. 1 to 64 bytes, without braces, spaces and control characters. Default `rxfleet`.
        public var name = "rxfleet"
        /// The name of the connections in `CLIENT LIST`. Default `rxfleet`.
        public var clientName = "rxfleet"
        /// The trusted authorities, and the certificate of this side, for `rediss`. Default: the system's authorities.
        public var tls = TLSConfiguration()
        /// The limit for a connection to be made. Default 5 s.
        public var connectTimeout = Duration.seconds(5)
        /// The limit for the reply to a command; if it passes, the connection is given up. Default 5 s.
        public var commandTimeout = Duration.seconds(5)
        /// The silence after which Redis is asked whether it is there. Default 10 s.
        public var pingInterval = Duration.seconds(10)
        /// The most commands that wait for their replies; more fail with `resources`. Default 10,000.
        public var commandLimit = 10_000
        /// The most bytes of entries that are held in memory after they were read. Redis reports when they change
        /// (`CLIENT TRACKING`); a process that is cut off may use them until it notices that: for at most twice the
        /// ``pingInterval`` and the ``commandTimeout``. Default 0: none.
        public var memoryLimit = 0

        /// Creates the default settings.
        public init() {}
    }

    private let client: RedisClient
    private let transport: CurlTransport?
    private let keys: RedisKeys
    private let leases: RedisLeases
    private let memory: RedisMemory?
    private let signal = Signal<NetworkError>()

    /// Creates a store; it connects with the first command.
    ///
    /// - Parameters:
    ///   - url: `redis://user:password@host:port/database`, `rediss://` for TLS, or `unix://user:password@/path?db=0`; see
    ///     ``Address``.
    ///   - configuration: the settings.
    ///   - loop: the loop of the connection. Default: that of the process.
    /// - Throws: `invalidConfiguration` for an address or a setting that cannot be used.
    public convenience init(
        _ url: String, configuration: Configuration = Configuration(), loop: EventLoop = .shared
    ) throws(NetworkError) {
        try self.init(at: Address(url), configuration: configuration, loop: loop)
    }

    /// Creates a store; it connects with the first command.
    ///
    /// - Parameters:
    ///   - address: the server, and the login there.
    ///   - configuration: the settings.
    ///   - loop: the loop of the connection. Default: that of the process.
    /// - Throws: `invalidConfiguration` for an address or a setting that cannot be used.
    public convenience init(
        at address: Address, configuration: Configuration = Configuration(), loop: EventLoop = .shared
    ) throws(NetworkError) {
        var settings = CurlTransport.Configuration()
        settings.httpVersion = .http1
        settings.proxy = .none
        settings.tls = configuration.tls
        if case .socket(let path) = address.route { settings.unixSocketPath = path }
        let transport = CurlTransport(loop: loop, configuration: settings)
        try self.init(at: address, configuration, over: transport)
    }

    init(
        at address: Address, _ configuration: Configuration, over transport: any Transport
    ) throws(NetworkError) {
        if let flaw = address.flaw {
            throw NetworkError(.invalidConfiguration, "the address of Redis cannot be used: \(flaw)")
        }
        guard configuration.clientName.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw NetworkError(
                .invalidConfiguration, "the name of a connection to Redis has no spaces and is ASCII")
        }
        let keys = try RedisKeys(configuration.name)
        var settings = RedisClient.Settings(address: address)
        settings.name = configuration.clientName
        settings.connectTimeout = configuration.connectTimeout
        settings.commandTimeout = configuration.commandTimeout
        settings.pingInterval = configuration.pingInterval
        settings.commandLimit = configuration.commandLimit
        // An entry has its version before the content.
        settings.limits.string = StoreRules.largestEntry + 4096
        settings.prefix = keys.entries
        settings.tracksEntries = configuration.memoryLimit > 0
        let client = RedisClient(settings, over: transport)
        let memory = configuration.memoryLimit > 0 ? RedisMemory(limit: configuration.memoryLimit) : nil
        self.client = client
        self.transport = transport as? CurlTransport
        self.keys = keys
        self.memory = memory
        leases = RedisLeases(over: client, keys)
        let prefixLength = keys.entries.count
        client.observe { [signal] event in
            switch event {
            case .connected: memory?.removeAll()
            case .disconnected(let error):
                memory?.removeAll()
                signal.send(error)
            case .refused(let error): signal.send(error)
            case .invalidated(let changed):
                guard let changed else { return memory?.removeAll() ?? () }
                for key in changed {
                    memory?.remove(String(decoding: key.dropFirst(prefixLength), as: UTF8.self))
                }
            }
        }
    }

    /// The reasons why there is no connection, each when it occurs, and those why a channel cannot be subscribed to. From
    /// the time of subscription; never ends.
    public var failures: Observable<NetworkError, Never> { signal.observable }

    /// The number of commands sent so far, those of handshakes included.
    public var commandCount: Int { client.commandCount }

    /// The number of entries held in memory.
    var heldCount: Int { memory?.count ?? 0 }

    /// Ends the connection for good: commands fail with `shutDown` from now on. Leases end by themselves.
    public func shutDown() { client.shutDown() }

    // MARK: - Entries

    /// Reads an entry.
    public func read(_ key: String) -> Observable<SharedEntry?, NetworkError> {
        Observable { [self] observer in
            do throws(NetworkError) { try StoreRules.check(name: key) } catch {
                return observer.complete(with: .failure(error))
            }
            if let held = memory?.entry(key, at: client.clock.now) {
                return observer.complete(with: .success(held))
            }
            request(key, for: observer)
        }
    }

    private func request(_ key: String, for observer: Observer<SharedEntry?, NetworkError>) {
        guard let memory else { return client.enter(EntryRead(of: key, for: observer)) }
        let name = keys.entry(key)
        let read = HeldRead(of: key, into: memory, for: observer)
        client.enter(
            RedisCallback(RedisCommand("GET", bytes: [name])) { result in
                read.receive(entry: Self.entry(result))
            })
        client.enter(
            RedisCallback(RedisCommand("PTTL", bytes: [name])) { [clock = client.clock] result in
                read.receive(lifetime: result, at: clock.now)
            })
    }

    /// A read whose reply is held, which needs the lifetime of the entry, too. The reply about that comes second, but may
    /// be missing before there is one about the value.
    private final class HeldRead: @unchecked Sendable {
        // Unchecked: the variables are accessed only inside the lane of the client, which is serial.
        private let key: String
        private let memory: RedisMemory
        private let observer: Observer<SharedEntry?, NetworkError>
        private var found: (entry: Result<SharedEntry?, NetworkError>, ticket: RedisMemory.Ticket)?
        private var hasNoLifetime = false

        init(of key: String, into memory: RedisMemory, for observer: Observer<SharedEntry?, NetworkError>) {
            self.key = key
            self.memory = memory
            self.observer = observer
        }

        func receive(entry: Result<SharedEntry?, NetworkError>) {
            if hasNoLifetime { return observer.complete(with: entry) }
            found = (entry, memory.begin(key))
        }

        func receive(lifetime: Result<RESPValue, NetworkError>, at now: Duration) {
            guard let (entry, ticket) = found else { return hasNoLifetime = true }
            switch (entry, lifetime) {
            case (.success(nil), .success(.integer(-2))): memory.hold(nil, at: key, until: nil, ticket)
            case (.success(let entry?), .success(.integer(let left))) where left != -2:
                memory.hold(entry, at: key, until: left >= 0 ? now + .milliseconds(left) : nil, ticket)
            default: memory.cancel(key, ticket)
            }
            observer.complete(with: entry)
        }
    }

    /// A read whose reply goes to the subscriber.
    private final class EntryRead: RedisCall, @unchecked Sendable {
        // Unchecked: constants, besides what the class above guards.
        private let key: String
        private let observer: Observer<SharedEntry?, NetworkError>

        init(of key: String, for observer: Observer<SharedEntry?, NetworkError>) {
            self.key = key
            self.observer = observer
            super.init(nil, .read)
        }

        override func append(to bytes: inout [UInt8], below prefix: borrowing [UInt8]) {
            RedisCommand.appendGet(of: key, below: prefix, to: &bytes)
        }

        override func complete(with entry: Result<SharedEntry, NetworkError>) {
            observer.complete(with: entry.map(Optional.some))
        }

        override func complete(_ result: consuming Result<RESPValue, NetworkError>) {
            observer.complete(with: RedisStore.entry(consume result))
        }
    }

    private static func entry(
        _ result: consuming Result<RESPValue, NetworkError>
    ) -> Result<SharedEntry?, NetworkError> {
        switch result {
        case .success(.string(let bytes)): return RedisKeys.entry(bytes[...]).map(Optional.some)
        case .success(.null): return .success(nil)
        case .success(.error(let failure)): return .failure(RedisErrors.error(for: failure))
        case .success(let value): return .failure(RedisErrors.unexpected(value, instead: "an entry"))
        case .failure(let error): return .failure(error)
        }
    }

    /// Replaces an entry if it has the expected version and its lease has not been followed by another. A lease that Redis
    /// has lost counts as followed by another.
    public func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError> {
        do throws(NetworkError) {
            try StoreRules.check(name: key)
            if let bytes { try StoreRules.check(entry: bytes) }
            if let lease { try StoreRules.check(name: lease.name) }
        } catch {
            return .fail(error)
        }
        let wanted =
            switch expected {
            case .any: Array("any".utf8)
            case .absent: Array("absent".utf8)
            case .exactly(let version): RedisKeys.number(version)
            }
        // In the order of the script.
        let names = [keys.entry(key), keys.clock] + (lease.map { [keys.lease($0.name)] } ?? [])
        let arguments = [
            wanted, Array((bytes == nil ? "0" : "1").utf8), bytes ?? [],
            lifetime.map { RedisKeys.milliseconds(StoreRules.lifetime($0)) } ?? [],
            RedisKeys.number(lease?.fence ?? 0),
        ]
        return run(.swap, names, arguments) { [memory] value throws(NetworkError) -> SwapResult in
            memory?.remove(key)
            switch value {
            case .integer(-1): return .conflict
            case .integer(-2): return .fenced
            case .integer(let version) where version >= 0: return .swapped(version: UInt64(version))
            default: throw RedisErrors.unexpected(value, instead: "a version")
            }
        }
    }

    // MARK: - Leases, budgets and messages

    /// A lease, granted in the order of the requests. A process that waits is told when it gets the lease.
    public func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
        leases.lease(name, for: time)
    }

    /// Takes from a budget, by the generic cell rate algorithm.
    public func take(
        _ count: Int, from key: String, _ budget: SharedBudget
    ) -> Observable<BudgetReply, NetworkError> {
        let terms: RedisBudget
        do throws(NetworkError) { terms = try RedisBudget(budget, taking: count, from: key) } catch {
            return .fail(error)
        }
        return run(.take, [keys.budget(key)], terms.arguments) { value throws(NetworkError) in
            try terms.reply(value)
        }
    }

    /// Sends a message to all processes that have subscribed to the channel, this one included.
    public func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError> {
        do throws(NetworkError) {
            try StoreRules.check(name: channel)
            try StoreRules.check(message: message)
        } catch {
            return .fail(error)
        }
        let command = RedisCommand("PUBLISH", keys.channel(channel), bytes: [message])
        return client.send(command).map { value throws(NetworkError) in
            switch value {
            case .integer: ()
            case .error(let failure): throw RedisErrors.error(for: failure)
            default: throw RedisErrors.unexpected(value, instead: "a number")
            }
        }
    }

    /// The messages of a channel.
    public func messages(of channel: String) -> Observable<SharedMessage, Never> {
        guard (try? StoreRules.check(name: channel)) != nil else {
            return .create { emitter in emitter.send(.disconnected) }
        }
        return client.messages(of: keys.channel(channel))
    }

    /// Runs a script, and reads its reply inside the lane of the connection.
    private func run<Value: Sendable>(
        _ script: RedisScript, _ keys: [[UInt8]], _ arguments: [[UInt8]],
        _ read: @escaping @Sendable (RESPValue) throws(NetworkError) -> Value
    ) -> Observable<Value, NetworkError> {
        .create { [client] emitter in
            client.enter(script, keys, arguments) { result in
                do throws(NetworkError) {
                    emitter.send(try read(result.get()))
                    emitter.finish()
                } catch {
                    emitter.fail(error)
                }
            }
        }
    }
}

/// A budget in microseconds, as the script counts it.
struct RedisBudget: Sendable {
    private let budget: SharedBudget
    private let gap: Double
    private let capacity: Double
    private let cost: Double

    init(_ budget: SharedBudget, taking count: Int, from key: String) throws(NetworkError) {
        try StoreRules.check(name: key)
        _ = try CellRate(budget, taking: count)
        self.budget = budget
        gap = 1e6 / budget.perSecond
        capacity = gap * Double(budget.burst)
        cost = gap * Double(count)
    }

    /// The arguments of ``RedisScript/take``, in their order.
    var arguments: [[UInt8]] { [capacity, cost].map { Array("\($0)".utf8) } }

    /// The reply of the budget, by that of ``RedisScript/take``. Stores must agree with ``CellRate/take(from:at:)``.
    func reply(_ value: RESPValue) throws(NetworkError) -> BudgetReply {
        guard let elements = value.elements, elements.count == 3, case .integer(let flag) = elements[0],
            let used = Self.time(elements[1]), let with = Self.time(elements[2])
        else { throw RedisErrors.unexpected(value, instead: "a budget") }
        let isLimited = flag == 1
        let left = (capacity - (isLimited ? used : with)) / gap + 1e-3
        return BudgetReply(
            isLimited: isLimited, limit: budget.burst,
            remaining: min(Int(min(max(left, 0), 1e15)), budget.burst),
            retryAfter: isLimited ? Self.duration(with - capacity) : .zero,
            resetAfter: Self.duration(isLimited ? used : with))
    }

    private static func time(_ value: RESPValue) -> Double? {
        guard let number = value.text.flatMap({ Double($0) }), number.isFinite, number >= 0 else {
            return nil
        }
        return number
    }

    /// At most some thirty years, so that sums do not overflow.
    private static func duration(_ microseconds: Double) -> Duration {
        .nanoseconds(Int64(min(max(microseconds, 0), 1e15) * 1000))
    }
}
#endif
