#if Fleet
import FoundationEssentials
import RxFleet
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Connections to one Redis as those of processes, each on its own loop, for the contract of stores. Time is real.
final class RedisProcesses: Sendable {
    private struct Process {
        let store: RedisStore
        let loop: EventLoop
        var stop: Gate?
    }

    private let server: RedisServer
    private let memoryLimit: Int
    private let processes = Mutex<[Process]>([])

    /// The rules of a user that may do what a store needs and nothing else, as the documentation has them.
    static let permissions = [
        "worker", "on", ">secret", "resetkeys", "~{rxfleet}:*", "resetchannels", "&{rxfleet}:*", "-@all",
        "+hello",
        "+select", "+client|setname", "+client|tracking", "+ping", "+get", "+pttl", "+eval", "+evalsha",
        "+subscribe",
        "+unsubscribe", "+publish", "+time", "+getrange", "+set", "+del", "+hget", "+hmget", "+hset", "+hdel",
        "+hincrby", "+zadd", "+zscore", "+zpopmin", "+zrem", "+pexpire",
    ]

    init(of server: RedisServer, memoryLimit: Int = 0) {
        self.server = server
        self.memoryLimit = memoryLimit
    }

    private func connect() async throws -> RedisStore {
        var configuration = RedisStore.Configuration()
        configuration.memoryLimit = memoryLimit
        configuration.commandTimeout = .seconds(30)
        let loop = EventLoop(name: "redis")
        let store = try RedisStore(
            "redis://worker:secret@127.0.0.1:\(server.port)", configuration: configuration, loop: loop)
        processes.withLock { $0.append(Process(store: store, loop: loop)) }
        // The order of requests is that of their arrival, which is not that of new connections.
        _ = try await store.read("connected").value()
        return store
    }

    /// Ends all connections and their loops.
    func end() {
        for process in processes.withLock({ $0 }) {
            process.stop?.open()
            process.store.shutDown()
            process.loop.shutDown()
        }
    }

    /// Stops the loop of a connection, and with it all that its process does.
    private func stop(_ store: any SharedStore) throws {
        let gate = try Gate()
        let loop = processes.withLock { processes -> EventLoop? in
            guard let index = processes.firstIndex(where: { $0.store === store }) else { return nil }
            processes[index].stop = gate
            return processes[index].loop
        }
        loop?.schedule { gate.wait() }
    }

    private func resume(_ store: any SharedStore) {
        processes.withLock { $0.first { $0.store === store } }?.stop?.open()
    }

    private static let clock = ContinuousClock()
    private static let start = clock.now

    private static func until(_ isMet: @Sendable () -> Bool) async throws {
        let end = clock.now + .seconds(20)
        while !isMet() {
            try #require(clock.now < end, "no condition takes twenty seconds")
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    var subject: StoreSubject {
        StoreSubject(
            connect: { [self] in try await connect() },
            now: { Self.clock.now - Self.start },
            pass: { try await Task.sleep(for: $0) },
            until: { isMet in try await Self.until(isMet) },
            isExact: false,
            stop: { [self] store in try stop(store) },
            resume: { [self] store in resume(store) },
            evict: { [server] key in try await server.command(["DEL", "{rxfleet}:entry:" + key]) })
    }
}
#endif
