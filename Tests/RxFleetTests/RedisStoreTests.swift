#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import RxParameters
import RxTesting
import TestServers
import Testing

@testable import RxFleet

/// The store, against a Redis that the tests start; `Tests/services.sh` installs it.
@Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(3))) struct RedisStoreTests {
    // MARK: - The contract

    /// Every check of the contract, as a user with the permissions of the documentation, in memory and without.
    @Test(arguments: SharedStoreContract.allCases, [0, 1 << 20])
    func contract(_ check: SharedStoreContract, memoryLimit: Int) async throws {
        try await prove(check, over: RedisServer(), memoryLimit)
    }

    /// The same of a Valkey.
    @Test(.enabled(if: RedisServer.Program.valkey.isInstalled), arguments: SharedStoreContract.allCases)
    func contractOfValkey(_ check: SharedStoreContract) async throws {
        try await prove(check, over: RedisServer(program: .valkey), 1 << 20)
    }

    private func prove(
        _ check: SharedStoreContract, over server: RedisServer, _ memoryLimit: Int
    ) async throws {
        try await server.command(["ACL", "SETUSER"] + RedisProcesses.permissions)
        try await server.command(["ACL", "LOG", "RESET"])
        let processes = RedisProcesses(of: server, memoryLimit: memoryLimit)
        try await check.check(processes.subject)
        let denied = try await server.command(["ACL", "LOG"])
        #expect(denied.isEmpty, "\(denied)")
        processes.end()
    }

    // MARK: - Connections

    private func store(_ url: String, _ change: (inout RedisStore.Configuration) -> Void = { _ in }) throws
        -> RedisStore
    {
        var configuration = RedisStore.Configuration()
        change(&configuration)
        return try RedisStore(url, configuration: configuration)
    }

    private func failure<Value: Sendable>(of stream: Observable<Value, NetworkError>) async -> NetworkError? {
        do {
            _ = try await stream.value()
            return nil
        } catch { return error }
    }

    /// Over TCP, a Unix socket and TLS, in databases of their own, with a login.
    @Test func places() async throws {
        let server = try await RedisServer([
            "--user", "default", "off", "--user", "worker", "on", ">s3cret", "~*", "&*", "+@all",
        ])
        let urls = [
            "redis://worker:s3cret@127.0.0.1:\(server.port)/0",
            "unix://worker:s3cret@\(server.socketPath)?db=1",
            "rediss://worker:s3cret@127.0.0.1:\(server.tlsPort)/2",
            "rediss://worker:s3cret@localhost:\(server.tlsPort)/3",
        ]
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for url in urls {
            let store = try store(url) { $0.tls.caBundlePath = server.authorityPath }
            #expect(try await store.read("a").value() == nil, "\(url)")
            guard
                case .swapped = try await store.swap("a", to: large, expecting: .absent, under: nil, for: nil)
                    .value()
            else {
                Issue.record("it has the entry of another")
                continue
            }
            #expect(try await store.read("a").value()?.bytes == large)
        }
        #expect(
            await failure(of: try store(urls[0].replacing("s3cret", with: "wrong")).read("a"))?.code
                == .storeLoginRefused)
        let noLogin = try store("redis://127.0.0.1:\(server.port)")
        #expect(await failure(of: noLogin.read("a"))?.code == .storeLoginMissing)
        // Of an authority that is not trusted.
        let error = try #require(await failure(of: try store(urls[2]).read("a")))
        #expect(error.code == .tls && error.tlsFailure != nil, "\(error)")
        #expect(!"\(error)".contains("s3cret"))
        // Without TLS on the port that has it, and the other way round.
        let plain = try store("redis://worker:s3cret@127.0.0.1:\(server.tlsPort)")
        #expect([.connectionLost, .invalidResponse].contains(await failure(of: plain.read("a"))?.code))
        let secure = try store("rediss://worker:s3cret@127.0.0.1:\(server.port)") {
            $0.connectTimeout = .milliseconds(500)
        }
        #expect([.tls, .connectTimeout].contains(await failure(of: secure.read("a"))?.code))
        #expect(await failure(of: try store(urls[0] + "99").read("a"))?.code == .storeFailure)
    }

    /// Servers that are no single master.
    @Test func otherServers() async throws {
        // By default the port of the cluster is 10,000 above the other, which may be none.
        let server = try await RedisServer([
            "--cluster-enabled", "yes", "--cluster-port", "\(ServerPort.free())",
        ])
        let url = "redis://127.0.0.1:\(server.port)"
        var error = try #require(await failure(of: store(url).read("a")))
        #expect(error.code == .storeUnsupported && error.message.contains("Cluster"), "\(error)")
        try await server.startSentinel()
        error = try #require(await failure(of: store(url).read("a")))
        #expect(error.code == .storeUnsupported && error.message.contains("Sentinel"), "\(error)")
        let master = try await RedisServer()
        try await server.start(["--replicaof", "127.0.0.1", "\(master.port)"])
        error = try #require(await failure(of: store(url).read("a")))
        #expect(error.code == .storeReadOnly, "\(error)")
    }

    /// A master that becomes a replica refuses writes, and is not used any more.
    @Test func demotion() async throws {
        let (server, master) = (try await RedisServer(), try await RedisServer())
        let store = try store("redis://127.0.0.1:\(server.port)")
        _ = try await store.swap("a", to: [1], expecting: .any, under: nil, for: nil).value()
        try await server.command(["REPLICAOF", "127.0.0.1", "\(master.port)"])
        let swap = store.swap("a", to: [2], expecting: .any, under: nil, for: nil)
        #expect(await failure(of: swap)?.code == .storeReadOnly)
        #expect(await failure(of: swap)?.code == .storeReadOnly)
    }

    /// A Redis without memory, and one that does not permit a command.
    @Test func refusals() async throws {
        let server = try await RedisServer()
        let store = try store("redis://127.0.0.1:\(server.port)")
        let swap = store.swap("a", to: [1], expecting: .any, under: nil, for: nil)
        _ = try await swap.value()
        try await server.command(["CONFIG", "SET", "maxmemory", "1"])
        #expect(await failure(of: swap)?.code == .storeFull)
        #expect(try await store.read("a").value()?.bytes == [1])
        try await server.command(["CONFIG", "SET", "maxmemory", "0"])
        try await server.command(["ACL", "SETUSER", "default", "-get"])
        #expect(await failure(of: store.read("a"))?.code == .storeForbidden)
        try await server.command(["ACL", "SETUSER", "default", "+get", "resetkeys", "~other"])
        #expect(await failure(of: store.read("a"))?.code == .storeForbidden)
    }

    // MARK: - Losses

    /// Redis that is killed within a command: it may have been executed. The next one has no data, and the store goes on.
    @Test func killed() async throws {
        let server = try await RedisServer()
        let store = try store("redis://127.0.0.1:\(server.port)")
        let events = Board<[SharedMessage]>([])
        store.messages(of: "a").subscribe { event in events.update { $0.append(event) } }
        _ = try await events.until { $0.first }
        let version = try await store.swap("a", to: [1], expecting: .absent, under: nil, for: nil).value()
        let lease = Board<SharedLease?>(nil)
        let leaseError = Board<NetworkError?>(nil)
        store.lease("l", for: .seconds(3)).subscribe(
            onNext: { granted in lease.update { $0 = granted } },
            onFailure: { error in leaseError.update { $0 = error } })
        let granted = try await lease.until { $0 }
        // The command reaches a Redis that does nothing else for a while.
        let sleeping = Task { try await server.command(["DEBUG", "SLEEP", "60"]) }
        while try await !stat(of: store) {}
        let pending = Task { await failure(of: store.read("a")) }
        let waiting = Task { await failure(of: store.lease("l", for: .seconds(1))) }
        try await Task.sleep(for: .milliseconds(100))
        try await server.kill()
        let error = try #require(await pending.value)
        #expect(error.code == .connectionLost && !error.isUnsent, "\(error)")
        #expect(await waiting.value?.code == .connectionLost)
        #expect(try await events.until { $0.count > 1 ? $0[1] : nil } == .disconnected)
        #expect(await failure(of: store.read("a"))?.isUnsent == true)
        _ = try? await sleeping.value
        try await server.start()
        #expect(try await events.until { $0.count > 2 ? $0[2] : nil } == .connected)
        #expect(try await store.read("a").value() == nil)
        // Versions and fences grow, and the lost lease counts as followed by another.
        let late = store.swap("b", to: [1], expecting: .absent, under: granted, for: nil)
        #expect(try await late.value() == .fenced)
        let next = try await store.swap("a", to: [2], expecting: .absent, under: nil, for: nil).value()
        guard case .swapped(let former) = version, case .swapped(let later) = next else {
            Issue.record("\(version) and \(next)")
            return
        }
        #expect(later > former)
        #expect(try await leaseError.until { $0?.code } == .superseded)
        let again = try await store.lease("l", for: .seconds(3)).take(1).value()
        #expect(again.fence > granted.fence)
    }

    /// False as long as Redis replies.
    private func stat(of store: RedisStore) async throws -> Bool {
        let reply = Board<Bool>(false)
        let subscription = store.read("x").subscribe(
            onNext: { _ in reply.update { $0 = true } }, onFailure: { _ in reply.update { $0 = true } })
        try await Task.sleep(for: .milliseconds(50))
        subscription.cancel()
        return !reply.contents
    }

    /// Data that are removed, and keys that are evicted: numbers grow over both.
    @Test func lostData() async throws {
        let server = try await RedisServer()
        let store = try store("redis://127.0.0.1:\(server.port)")
        var last: UInt64 = 0
        var fence: UInt64 = 0
        for loss in [
            ["FLUSHALL"], ["DEL", "{rxfleet}:clock"], ["DEL", "{rxfleet}:lease:l"], ["SCRIPT", "FLUSH"],
        ] {
            let result = try await store.swap("a", to: [1], expecting: .any, under: nil, for: nil).value()
            guard case .swapped(let version) = result else { continue }
            #expect(version > last)
            last = version
            let lease = try await store.lease("l", for: .seconds(3)).take(1).value()
            #expect(lease.fence > fence)
            fence = lease.fence
            #expect(fence > 1_700_000_000_000_000 && last < 1 << 53, "microseconds since 1970")
            try await server.command(loss)
        }
    }

    /// The clock of Redis is set back while a lease is held whose process is gone: it ends after its length all the same.
    /// Set forward, it ends at once, and nothing can be written under it any more.
    @Test func clockSet() async throws {
        let server = try await RedisServer()
        let url = "redis://127.0.0.1:\(server.port)"
        let (one, two) = (try store(url), try store(url))
        func held(_ store: RedisStore, for time: Duration) async throws -> (SharedLease, Subscription) {
            let lease = Board<SharedLease?>(nil)
            let subscription = store.lease("a", for: time).subscribe(
                onNext: { granted in lease.update { $0 = granted } }, onFailure: { _ in })
            return (try await lease.until { $0 }, subscription)
        }
        let (first, _) = try await held(one, for: .seconds(1))
        one.shutDown()
        try await server.shiftClock(of: "a", by: -1_000_000)
        let start = ContinuousClock.now
        let (second, kept) = try await held(two, for: .seconds(3600))
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(second.fence > first.fence)
        try await server.shiftClock(of: "a", by: 1_000_000)
        let (third, _) = try await held(try store(url), for: .seconds(1))
        #expect(third.fence > second.fence)
        let swap = two.swap("b", to: [1], expecting: .any, under: second, for: nil)
        #expect(try await swap.value() == .fenced)
        kept.cancel()
    }

    /// A connection that Redis ends is made again, with its subscriptions.
    @Test func endedConnection() async throws {
        let server = try await RedisServer()
        let store = try store("redis://127.0.0.1:\(server.port)") { $0.clientName = "ended" }
        let events = Board<[SharedMessage]>([])
        store.messages(of: "a").subscribe { event in events.update { $0.append(event) } }
        _ = try await events.until { $0.first }
        #expect(try await server.command(["CLIENT", "LIST"]).contains("name=ended"))
        try await server.command(["CLIENT", "KILL", "TYPE", "pubsub"])
        #expect(
            try await events.until { $0.count > 2 ? $0 : nil } == [.connected, .disconnected, .connected])
        _ = try await store.publish([7], to: "a").value()
        #expect(try await events.until { $0.count > 3 ? $0[3] : nil } == .message([7]))
    }

    /// The entries in memory equal those of Redis, whichever process changes them.
    @Test func memory() async throws {
        let server = try await RedisServer()
        let url = "redis://127.0.0.1:\(server.port)"
        let reader = try store(url) { $0.memoryLimit = 1 << 20 }
        let writer = try store(url)
        let seen = Board<[SharedMessage]>([])
        reader.messages(of: "a").subscribe { event in seen.update { $0.append(event) } }
        _ = try await seen.until { $0.first }
        for round in 1...20 {
            let bytes = Array("\(round)".utf8)
            _ = try await writer.swap("a", to: bytes, expecting: .any, under: nil, for: nil).value()
            // As the parts of a fleet do: first the entry, then the message.
            _ = try await writer.publish(bytes, to: "a").value()
            _ = try await seen.until { $0.count == round + 1 ? true : nil }
            #expect(try await reader.read("a").value()?.bytes == bytes)
            let commands = reader.commandCount
            #expect(try await reader.read("a").value()?.bytes == bytes)
            #expect(reader.commandCount == commands, "held")
            // Its own writes are seen at once, too.
            _ = try await reader.swap("b", to: bytes, expecting: .any, under: nil, for: nil).value()
            #expect(try await reader.read("b").value()?.bytes == bytes)
        }
        try await server.command(["FLUSHALL"])
        _ = try await writer.publish([], to: "a").value()
        _ = try await seen.until { $0.count == 22 ? true : nil }
        #expect(try await reader.read("a").value() == nil)
        // An entry with a lifetime is not held for longer.
        _ = try await writer.swap("c", to: [1], expecting: .any, under: nil, for: .seconds(2)).value()
        #expect(try await reader.read("c").value() != nil)
        try await Task.sleep(for: .milliseconds(2100))
        #expect(try await reader.read("c").value() == nil)
        #expect(reader.heldCount > 0)
    }

    // MARK: - The fleet

    /// Two sessions share one login, and one renewal.
    @Test func sharedLogin() async throws {
        let redis = try await RedisServer()
        let server = TokenFamilies()
        let keys = try SealingKeys.test()
        let members = try (0..<2).map { _ in
            try LoginMember(store: store("redis://127.0.0.1:\(redis.port)"), keys: keys, server: server)
        }
        for member in members { #expect(try await member.client.get("/goods").value().status == .ok) }
        #expect(server.logins == 1 && server.renewals == 0)
        for round in 1...3 {
            server.expire()
            let requests = members.map { member in
                Task { try await member.client.get("/goods").value().status }
            }
            for request in requests { #expect(try await request.value == .ok) }
            #expect(server.renewals == round)
        }
        #expect(server.logins == 1 && server.revocations.isEmpty)
        // A request with a current credential asks Redis nothing. The last renewal may still be read after its push.
        let commands = members[0].store.commandCount
        for _ in 0..<10 { _ = try await members[0].client.get("/goods").value() }
        #expect(members[0].store.commandCount <= commands + 2)
    }

    private struct LoginMember: Sendable {
        let store: RedisStore
        let client: Client

        private struct Tokens: Decodable, Sendable {
            let token: String
            let refresh: String?
        }

        init(store: RedisStore, keys: SealingKeys, server: TokenFamilies) throws {
            let transport = ServingTransport { server.answer($0) }
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            let plain = Client(configuration: configuration, transport: transport)
            configuration.session = Session(
                sharing: SharedCredential(in: store, key: "shop", sealing: keys),
                renewal: { @Sendable current in
                    plain.post("/token", .form(["refresh_token": current.refreshToken ?? ""]))
                        .decode(Tokens.self).map { Credential(token: $0.token, refreshToken: $0.refresh) }
                },
                login: {
                    plain.post("/login").decode(Tokens.self)
                        .map { Credential(token: $0.token, refreshToken: $0.refresh) }
                })
            self.store = store
            client = Client(configuration: configuration, transport: transport)
        }
    }

    /// Without Redis the quota is this process's share of the rate, then that of the fleet again.
    @Test func quotaWithoutRedis() async throws {
        let redis = try await RedisServer()
        let store = try store("redis://127.0.0.1:\(redis.port)")
        let quota = FleetQuota(in: store, timeLimit: .seconds(2)) { 2 }
        let events = Board<[String]>([])
        quota.events.subscribe { event in events.update { $0.append("\("\(event)".prefix { $0 != ":" })") } }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.hostLimits = RequestLimits(rate: .perSecond(50, burst: 5))
            .shared(through: quota, scope: "key")
        let client = Client(
            configuration: configuration, transport: ServingTransport { _ in .json("1") })
        func request() async throws { _ = try await client.get("/x").value() }
        for _ in 0..<10 { try await request() }
        #expect(events.contents.isEmpty)
        try await redis.kill()
        var count = 0
        while events.contents.isEmpty, count < 1000 {
            try await request()
            count += 1
        }
        #expect(events.contents == ["degraded"])
        for _ in 0..<5 { try await request() }
        try await redis.start()
        count = 0
        while events.contents.count < 2, count < 1000 {
            try await request()
            count += 1
        }
        #expect(events.contents == ["degraded", "recovered"])
    }
}

/// Replies at once, in real time.
private struct ServingTransport: Transport {
    let answer: @Sendable (Request) -> ScriptedTransport.Reply

    var scheduler: any Scheduler { ActorScheduler.shared }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        .deferred {
            let events = answer(request).steps.compactMap {
                step -> Observable<TransferEvent, NetworkError>? in
                switch step {
                case .head(let head): .just(.head(head))
                case .chunk(let bytes): .just(.chunk(bytes))
                case .finish: .just(.finished(TransferMetrics()))
                case .fail(let error): .fail(error)
                default: nil
                }
            }
            return .concat(events)
        }
    }
}
#endif
