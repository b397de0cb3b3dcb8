#if Fleet
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

@testable import RxFleet

/// The connection to Redis, against servers whose replies the tests give.
@Suite(.timeLimit(.minutes(1))) struct RedisClientTests {
    /// A store on a server of the test.
    private func store(
        _ server: RESPServer, login: String = "", database: String = "",
        _ change: (inout RedisStore.Configuration) -> Void = { _ in }
    ) throws -> RedisStore {
        var configuration = RedisStore.Configuration()
        change(&configuration)
        return try RedisStore(
            "redis://\(login)127.0.0.1:\(server.port)\(database)", configuration: configuration)
    }

    private func failure<Value: Sendable>(of stream: Observable<Value, NetworkError>) async -> NetworkError? {
        do {
            _ = try await stream.value()
            return nil
        } catch {
            return error
        }
    }

    private static func entry(_ text: String, version: UInt64) -> String {
        RESPServer.bulk(String(decoding: RedisKeys.number(version), as: UTF8.self) + text)
    }

    // MARK: - Handshake

    /// The first commands: protocol, login and name together, then the database.
    @Test func handshake() async throws {
        let server = try RESPServer { RESPServer.usual($0) }
        let store = try store(server, login: "us%40er:p%3Ass@", database: "/3") { $0.clientName = "worker-1" }
        #expect(try await store.read("a").value() == nil)
        #expect(
            server.commands.contents.map(\.words) == [
                ["HELLO", "3", "AUTH", "us@er", "p:ss", "SETNAME", "worker-1"], ["SELECT", "3"],
                ["GET", "{rxfleet}:entry:a"],
            ])
    }

    /// A password without a user is that of the user `default`; without a password there is no login.
    @Test(arguments: [(":secret@", ["AUTH", "default", "secret"]), ("", [])] as [(String, [String])])
    func login(login: String, words: [String]) async throws {
        let server = try RESPServer { RESPServer.usual($0) }
        _ = try await store(server, login: login).read("a").value()
        #expect(server.commands.contents.first?.words == ["HELLO", "3"] + words + ["SETNAME", "rxfleet"])
    }

    /// Servers that cannot be used, with the error that says so.
    @Test(
        arguments: [
            ("-WRONGPASS invalid username-password pair or user is disabled.\r\n", .storeLoginRefused),
            ("-NOAUTH HELLO must be called with the client already authenticated\r\n", .storeLoginMissing),
            ("-NOPROTO unsupported protocol version\r\n", .storeUnsupported),
            (
                "-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `user`, `s3cret`, \r\n",
                .storeUnsupported
            ),
            ("-ERR max number of clients reached\r\n", .storeFailure),
            ("-DENIED Redis is running in protected mode\r\n", .storeForbidden),
            (RESPServer.hello(mode: "sentinel"), .storeUnsupported),
            (RESPServer.hello(mode: "cluster"), .storeUnsupported),
            (RESPServer.hello(role: "replica"), .storeReadOnly),
            ("HTTP/1.1 400 Bad Request\r\n\r\n", .invalidResponse), ("+OK\r\n", .invalidResponse),
            ("%1\r\n+proto\r\n:2\r\n", .invalidResponse), ("$3\r\nab", .idleTimeout),
        ] as [(String, NetworkError.Code)])
    func refusedServers(reply: String, code: NetworkError.Code) async throws {
        let server = try RESPServer { command in
            command.name == "HELLO" ? [.send(reply)] : [.send("-NOAUTH Authentication required.\r\n")]
        }
        let store = try store(server, login: "user:s3cret@") {
            guard code == .idleTimeout else { return }
            $0.commandTimeout = .milliseconds(100)
            $0.connectTimeout = .seconds(2)
        }
        let error = try #require(await failure(of: store.read("a")))
        #expect(error.code == code, "\(error)")
        #expect(error.isUnsent)
        for text in ["\(error)", error.message, error.serverMessage ?? "", error.details ?? "", "\(store)"] {
            #expect(!text.contains("s3cret"), "\(text)")
        }
        // The next command is told at once, without another connection.
        #expect(await failure(of: store.read("a"))?.code == code)
        #expect(server.commands(named: "GET").isEmpty)
    }

    /// A server that cannot be reached, and one that is not there any more.
    @Test func unreachable() async throws {
        let store = try RedisStore("redis://127.0.0.1:\(ServerPort.free())/")
        let error = try #require(await failure(of: store.read("a")))
        #expect(error.code == .connect && error.isUnsent, "\(error)")
        #expect(error.message.hasPrefix("redis://127.0.0.1:"))
        let socket = try RedisStore("unix:///nowhere/redis.sock")
        #expect(await failure(of: socket.read("a"))?.code == .connect)
    }

    // MARK: - Replies

    /// What a reply leads to is sent in the order in which it was asked for, subscriptions to channels too.
    @Test func orderWithinReplies() async throws {
        let server = try RESPServer { RESPServer.usual($0) }
        let store = try store(server)
        store.read("a").subscribe(onNext: { _ in
            store.messages(of: "c").subscribe { _ in }
            store.publish([1], to: "c").subscribe(onFailure: { _ in })
            store.read("b").subscribe(onFailure: { _ in })
        })
        let names = try await server.commands.until { commands in
            commands.count >= 5 ? commands.map(\.name) : nil
        }
        #expect(names == ["HELLO", "GET", "SUBSCRIBE", "PUBLISH", "GET"])
    }

    /// Replies that arrive in single bytes, or all together, go to their commands.
    @Test(arguments: [1, 2, 7, 1000]) func splitReplies(size: Int) async throws {
        let server = try RESPServer { command in
            guard command.name == "GET" else { return RESPServer.usual(command) }
            let number = UInt64(command.words[1].split(separator: ":").last ?? "") ?? 0
            return [.pieces(Self.entry("value \(number)\r\n", version: number + 1), of: size)]
        }
        let store = try store(server)
        let entries = Board<[Int: SharedEntry]>([:])
        for number in 0..<100 {
            store.read("\(number)").subscribe(onNext: { entry in entries.update { $0[number] = entry } })
        }
        let all = try await entries.until { $0.count == 100 ? $0 : nil }
        for (number, entry) in all {
            #expect(
                entry == SharedEntry(bytes: Array("value \(number)\r\n".utf8), version: UInt64(number) + 1))
        }
        #expect(server.commands.contents.last?.connection == 0)
    }

    /// Replies of failure, with what they mean and whether the command may have been executed.
    @Test(
        arguments: [
            ("-LOADING Redis is loading the dataset in memory\r\n", .storeLoading),
            ("-BUSY Redis is busy running a script.\r\n", .storeBusy),
            ("-OOM command not allowed when used memory > 'maxmemory'.\r\n", .storeFull),
            ("-NOPERM this user has no permissions to run the 'get' command\r\n", .storeForbidden),
            ("-NOAUTH Authentication required.\r\n", .storeLoginMissing),
            ("-MOVED 3999 127.0.0.1:6381\r\n", .storeUnsupported),
            ("-ASK 3999 127.0.0.1:6381\r\n", .storeUnsupported),
            ("-CLUSTERDOWN Hash slot not served\r\n", .storeUnsupported),
            ("-READONLY You can't write against a read only replica.\r\n", .storeReadOnly),
            ("-MISCONF Redis is configured to save RDB snapshots\r\n", .storeReadOnly),
            ("-MASTERDOWN Link with MASTER is down\r\n", .storeLoading),
            ("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", .storeFailure),
            ("-\r\n", .storeFailure), (":5\r\n", .invalidResponse), ("+OK\r\n", .invalidResponse),
            ("*0\r\n", .invalidResponse), ("$3\r\nabc\r\n", .invalidResponse),
            ("$16\r\n000000000000000x\r\n", .invalidResponse),
        ] as [(String, NetworkError.Code)])
    func failures(reply: String, code: NetworkError.Code) async throws {
        let server = try RESPServer { command in
            command.name == "GET" ? [.send(reply)] : RESPServer.usual(command)
        }
        let error = try #require(await failure(of: store(server).read("a")))
        #expect(error.code == code, "\(error)")
        #expect(!error.isUnsent)
    }

    /// Garbage, and the end of the connection in a reply or instead of one: the command may have been executed, and the
    /// connection is made again.
    @Test(
        arguments: [
            ("$100\r\nabc", true, .connectionLost), ("", true, .connectionLost),
            ("?\r\n", false, .invalidResponse),
            ("*1\r\n", true, .connectionLost), ("$1\r\nabc\r\n", false, .invalidResponse),
            ("$999999999\r\n", false, .invalidResponse),
            (">2\r\n+message\r\n+a\r\n", false, .invalidResponse),
            (">3\r\n+subscribe\r\n+a\r\n:1\r\n", false, .invalidResponse),
        ] as [(String, Bool, NetworkError.Code)])
    func brokenReplies(reply: String, closes: Bool, code: NetworkError.Code) async throws {
        let server = try RESPServer { command in
            guard command.name == "GET" else { return RESPServer.usual(command) }
            guard command.words[1].hasSuffix("bad") else { return [.send(Self.entry("good", version: 5))] }
            return [.send(reply)] + (closes ? [.close] : [])
        }
        let store = try store(server)
        let failures = Board<[NetworkError]>([])
        store.failures.subscribe { error in failures.update { $0.append(error) } }
        let error = try #require(
            await failure(of: Observable.zip(store.read("bad"), store.read("bad")).map { _ in }))
        #expect(error.code == code, "\(error)")
        #expect(!error.isUnsent && error.message.contains("may have been executed"))
        #expect(try await failures.until { $0.first?.code } == code)
        try await again(store)
        #expect(server.commands(named: "HELLO").count >= 2)
    }

    /// A reply too many ends the connection: nobody knows which command the next one belongs to.
    @Test func unaskedReply() async throws {
        let server = try RESPServer { command in
            command.name == "GET" ? [.send("_\r\n_\r\n")] : RESPServer.usual(command)
        }
        let store = try store(server)
        let failures = Board<[NetworkError]>([])
        store.failures.subscribe { error in failures.update { $0.append(error) } }
        #expect(try await store.read("a").value() == nil)
        #expect(try await failures.until { $0.first?.code } == .invalidResponse)
    }

    /// Asks until there is a connection again.
    private func again(_ store: RedisStore) async throws {
        let messages = Board<Bool>(false)
        let subscription = store.messages(of: "again").subscribe { message in
            if message == .connected { messages.update { $0 = true } }
        }
        _ = try await messages.until { $0 ? true : nil }
        subscription.cancel()
        #expect(try await store.read("good").value()?.bytes == Array("good".utf8))
    }

    /// A server that does not reply is given up after the limit.
    @Test func slowServer() async throws {
        let server = try RESPServer { command in command.name == "GET" ? [] : RESPServer.usual(command) }
        let store = try store(server) { $0.commandTimeout = .milliseconds(200) }
        let error = try #require(await failure(of: store.read("a")))
        #expect(error.code == .idleTimeout && !error.isUnsent, "\(error)")
    }

    /// A silent server is asked whether it is there, and given up if it is not.
    @Test func silentServer() async throws {
        let server = try RESPServer { command in command.name == "PING" ? [] : RESPServer.usual(command) }
        let store = try store(server) {
            $0.commandTimeout = .seconds(1)
            $0.pingInterval = .milliseconds(100)
        }
        let failures = Board<[NetworkError]>([])
        store.failures.subscribe { error in failures.update { $0.append(error) } }
        _ = try await store.read("a").value()
        #expect(try await failures.until { $0.first?.code } == .idleTimeout)
    }

    /// More commands than the limit are refused, and not sent.
    @Test func manyCommands() async throws {
        let gate = try Gate()
        let server = try RESPServer { command in
            command.name == "GET" ? [.wait(gate), .send("_\r\n")] : RESPServer.usual(command)
        }
        let store = try store(server) { $0.commandLimit = 10 }
        let results = Board<[Bool]>([])
        for _ in 0..<15 {
            store.read("a").subscribe(
                onNext: { _ in results.update { $0.append(true) } },
                onFailure: { error in
                    results.update { $0.append(error.code != .resources || !error.isUnsent) }
                })
        }
        // The command of the handshake counts until its reply is there.
        _ = try await results.until { $0.count { !$0 } >= 5 ? true : nil }
        gate.open()
        let all = try await results.until { $0.count == 15 ? $0 : nil }
        #expect((9...10).contains(all.count { $0 }))
    }

    /// A read that is held needs two commands, of which the second may be one too many.
    @Test(arguments: 1...4)
    func manyHeldReads(limit: Int) async throws {
        let server = try RESPServer { command in
            switch command.name {
            case "GET": [.send(Self.entry("text", version: 3))]
            case "PTTL": [.send(":-1\r\n")]
            default: RESPServer.usual(command)
            }
        }
        let store = try store(server) {
            $0.memoryLimit = 1 << 20
            $0.commandLimit = limit
        }
        let reads = (0..<limit).map { store.read("key \($0)").materialize() }
        let events = try await Observable.merge(reads).collect().value()
        #expect(events.count { if case .end = $0 { true } else { false } } == limit)
    }

    /// After its end, a store sends nothing more.
    @Test func shutDown() async throws {
        let server = try RESPServer { RESPServer.usual($0) }
        let store = try store(server)
        _ = try await store.read("a").value()
        store.shutDown()
        let error = await failure(of: store.read("a"))
        #expect(error?.code == .shutDown && error?.isUnsent == true)
    }

    /// A loop that ends ends the store, too.
    @Test func endOfLoop() async throws {
        let server = try RESPServer { RESPServer.usual($0) }
        let loop = EventLoop(name: "redis")
        let store = try RedisStore("redis://127.0.0.1:\(server.port)", loop: loop)
        _ = try await store.read("a").value()
        loop.shutDown()
        #expect(await failure(of: store.read("a"))?.code == .shutDown)
    }

    // MARK: - Scripts

    /// A script that Redis does not know is sent once with its text.
    @Test func unknownScript() async throws {
        let known = Mutex(false)
        let server = try RESPServer { command in
            switch command.name {
            case "EVALSHA" where !known.withLock({ $0 }):
                return [.send("-NOSCRIPT No matching script. Please use EVAL.\r\n")]
            case "EVAL":
                known.withLock { $0 = true }
                return [.send(":7\r\n")]
            case "EVALSHA": return [.send(":8\r\n")]
            default: return RESPServer.usual(command)
            }
        }
        let store = try store(server)
        let swap = store.swap(
            "a", to: [1], expecting: .exactly(12), under: SharedLease(name: "l", fence: 9), for: .seconds(2))
        #expect(try await swap.value() == .swapped(version: 7))
        #expect(try await swap.value() == .swapped(version: 8))
        let commands = server.commands.contents.filter { $0.name.hasPrefix("EVAL") }
        #expect(commands.map(\.name) == ["EVALSHA", "EVAL", "EVALSHA"])
        #expect(
            commands[1].words.dropFirst(2) == [
                "3", "{rxfleet}:entry:a", "{rxfleet}:clock", "{rxfleet}:lease:l", "0000000000000012", "1",
                "\u{1}",
                "2000", "0000000000000009",
            ])
        #expect(commands[0].words.dropFirst(2) == commands[1].words.dropFirst(2))
        #expect(commands[1].words[1].contains("redis.call"))
    }

    /// Replies of scripts that are none.
    @Test(arguments: [
        "+OK\r\n", ":-3\r\n", "*0\r\n", "*2\r\n:1\r\n:2\r\n", "*3\r\n:1\r\n+x\r\n+1\r\n", "_\r\n",
    ])
    func wrongScripts(reply: String) async throws {
        let server = try RESPServer { command in
            command.name == "EVALSHA" ? [.send(reply)] : RESPServer.usual(command)
        }
        let store = try store(server)
        let budget = SharedBudget(perSecond: 1, burst: 1)
        #expect(
            await failure(of: store.swap("a", to: nil, expecting: .any, under: nil, for: nil))?.code
                == .invalidResponse)
        #expect(await failure(of: store.take(1, from: "a", budget))?.code == .invalidResponse)
        #expect(await failure(of: store.lease("a", for: .seconds(1)))?.code == .invalidResponse)
    }

    // MARK: - Messages

    /// Subscriptions are made again with the next connection, and told of its loss.
    @Test func messages() async throws {
        let server = try RESPServer { command in
            command.name == "GET" ? [.close] : RESPServer.usual(command)
        }
        let store = try store(server)
        let events = Board<[SharedMessage]>([])
        let others = Board<[SharedMessage]>([])
        let subscription = store.messages(of: "a").subscribe { event in events.update { $0.append(event) } }
        let other = store.messages(of: "a").subscribe { event in others.update { $0.append(event) } }
        _ = try await events.until { $0.isEmpty ? nil : true }
        let message = { (text: String) in
            ">3\r\n+message\r\n\(RESPServer.bulk("{rxfleet}:channel:a"))\(RESPServer.bulk(text))"
        }
        server.push(message("one"))
        server.push(">3\r\n+message\r\n+other\r\n+text\r\n>1\r\n+news\r\n")
        server.push(message("two\r\n"))
        _ = try await events.until { $0.count == 3 ? true : nil }
        _ = await failure(of: store.read("x"))
        _ = try await events.until { $0.count == 5 ? true : nil }
        let expected: [SharedMessage] = [
            .connected, .message(Array("one".utf8)), .message(Array("two\r\n".utf8)), .disconnected,
            .connected,
        ]
        #expect(events.contents == expected)
        #expect(try await others.until { $0.count == 5 ? $0 : nil } == expected)
        // One subscription in Redis for all in this process.
        #expect(server.commands(named: "SUBSCRIBE").map(\.connection) == [0, 1])
        subscription.cancel()
        other.cancel()
        _ = try await server.commands.until { $0.last?.name == "UNSUBSCRIBE" ? true : nil }
        // A later one begins anew.
        let late = Board<[SharedMessage]>([])
        let last = store.messages(of: "a").subscribe { event in late.update { $0.append(event) } }
        #expect(try await late.until { $0.first } == .connected)
        last.cancel()
    }

    /// A message for a subscription that has ended does not reach the next one, which has yet to begin.
    @Test func outdatedMessage() async throws {
        let message = { @Sendable (text: String) in
            ">3\r\n+message\r\n\(RESPServer.bulk("{rxfleet}:channel:a"))\(RESPServer.bulk(text))"
        }
        let count = Board(0)
        let server = try RESPServer { command in
            guard command.name == "SUBSCRIBE" else { return RESPServer.usual(command) }
            let isFirst = count.update { count in
                count += 1
                return count == 1
            }
            let usual = RESPServer.usual(command)
            return isFirst ? usual : [.send(message("old"))] + usual + [.send(message("new"))]
        }
        let store = try store(server)
        let first = Board<[SharedMessage]>([])
        let subscription = store.messages(of: "a").subscribe { event in first.update { $0.append(event) } }
        _ = try await first.until { $0.first }
        subscription.cancel()
        _ = try await server.commands.until { $0.last?.name == "UNSUBSCRIBE" ? true : nil }
        let next = Board<[SharedMessage]>([])
        store.messages(of: "a").subscribe { event in next.update { $0.append(event) } }
        let expected = [SharedMessage.connected, .message(Array("new".utf8))]
        #expect(try await next.until { $0.count == 2 ? $0 : nil } == expected)
    }

    /// A subscription that Redis refuses harms no command, and its listener learns that no messages arrive.
    @Test func refusedChannel() async throws {
        let server = try RESPServer { command in
            switch command.name {
            case "SUBSCRIBE":
                [.send("-NOPERM this user has no permissions to access one of the channels\r\n")]
            case "GET": [.send(Self.entry("good", version: 1))]
            default: RESPServer.usual(command)
            }
        }
        let store = try store(server)
        let failures = Board<[NetworkError]>([])
        store.failures.subscribe { error in failures.update { $0.append(error) } }
        let events = Board<[SharedMessage]>([])
        store.messages(of: "a").subscribe { event in events.update { $0.append(event) } }
        #expect(try await failures.until { $0.first?.code } == .storeForbidden)
        #expect(try await store.read("a").value()?.bytes == Array("good".utf8))
        #expect(events.contents == [.disconnected])
    }

    // MARK: - Memory

    /// Entries are held until Redis tells of a change, tells that anything may have changed, or is gone.
    @Test func memory() async throws {
        let gate = try Gate()
        let server = try RESPServer { command in
            switch command.name {
            case "GET" where command.words[1].hasSuffix("missing"): return [.send("_\r\n")]
            case "GET" where command.words[1].hasSuffix("end"): return [.close]
            case "GET" where command.words[1].hasSuffix("raced"):
                let change = ">2\r\n+invalidate\r\n*1\r\n\(RESPServer.bulk(command.words[1]))"
                return [.send(Self.entry("old", version: 1) + change)]
            case "GET": return [.send(Self.entry("text", version: 3))]
            case "PTTL": return [.send(command.words[1].hasSuffix("missing") ? ":-2\r\n" : ":-1\r\n")]
            default: return RESPServer.usual(command)
            }
        }
        let store = try store(server) { $0.memoryLimit = 1 << 20 }
        func reads(_ key: String) async throws -> Int {
            let former = server.commands(named: "GET").count
            _ = try await store.read(key).value()
            return server.commands(named: "GET").count - former
        }
        #expect(try await reads("a") == 1)
        #expect(
            server.commands.contents[1].words == [
                "CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "{rxfleet}:entry:",
            ])
        #expect(try await reads("a") == 0)
        #expect(try await reads("b") == 1)
        #expect(try await reads("missing") == 1)
        #expect(try await reads("missing") == 0, "that there is none is held, too")
        #expect(try await reads("raced") == 1)
        #expect(try await reads("raced") == 1, "it has changed before it was complete")
        let ready = Board<Bool>(false)
        let subscription = store.messages(of: "x").subscribe { message in
            if message != .disconnected { ready.update { $0 = true } }
        }
        func push(_ text: String) async throws {
            ready.update { $0 = false }
            server.push(text + ">3\r\n+message\r\n\(RESPServer.bulk("{rxfleet}:channel:x"))+now\r\n")
            _ = try await ready.until { $0 ? true : nil }
        }
        // Connected: what comes before that is for nobody.
        _ = try await ready.until { $0 ? true : nil }
        try await push(">2\r\n+invalidate\r\n*2\r\n\(RESPServer.bulk("{rxfleet}:entry:a"))+else\r\n")
        #expect(try await reads("b") == 0)
        #expect(try await reads("a") == 1)
        try await push(">2\r\n+invalidate\r\n_\r\n")
        #expect(try await reads("b") == 1)
        #expect(try await reads("b") == 0)
        _ = await failure(of: store.read("end"))
        #expect(store.heldCount == 0)
        subscription.cancel()
        gate.open()
    }

    /// The memory keeps its limit, forgets what came first, and what has outlived its lifetime.
    @Test func memoryLimit() {
        let memory = RedisMemory(limit: 10_000)
        for number in 0..<100 {
            let ticket = memory.begin("\(number)")
            memory.hold(
                SharedEntry(bytes: Array(repeating: 0, count: 500), version: 1), at: "\(number)",
                until: .seconds(number),
                ticket)
        }
        #expect(memory.count == 15)
        #expect(memory.entry("0", at: .zero) == nil)
        #expect(memory.entry("99", at: .seconds(98)) != nil)
        #expect(memory.entry("99", at: .seconds(99)) == nil)
        let ticket = memory.begin("large")
        memory.hold(
            SharedEntry(bytes: Array(repeating: 0, count: 5000), version: 1), at: "large", until: nil, ticket)
        #expect(memory.entry("large", at: .zero) == nil)
        let late = memory.begin("late")
        memory.remove("late")
        memory.hold(nil, at: "late", until: nil, late)
        #expect(memory.entry("late", at: .zero) == nil)
        memory.removeAll()
        #expect(memory.count == 0)
    }

    // MARK: - Addresses

    @Test(
        arguments: [
            ("redis://h", "redis://h:6379/0"), ("redis://u:p@h:1/2", "redis://h:1/2"),
            ("rediss://[::1]:9", "rediss://[::1]:9/0"),
            ("REDIS://a.b-c_d/", "redis://a.b-c_d:6379/0"), ("unix:///run/r.sock", "unix:///run/r.sock?db=0"),
            ("unix://:p@/run/a%20b?db=7", "unix:///run/a b?db=7"),
            ("redis://:a%2Fb%40@h", "redis://h:6379/0"),
        ])
    func addresses(url: String, text: String) throws {
        let address = try RedisStore.Address(url)
        #expect("\(address)" == text)
        #expect(String(reflecting: address) == text)
        #expect(Mirror(reflecting: address).children.isEmpty)
    }

    @Test(
        arguments: [
            "", "h", "http://h", "redis://", "redis://h:0", "redis://h:65536", "redis://h:x", "redis://h/x",
            "redis://h/-1",
            "redis://secret@h", "redis://u:@h", "redis://u:secret@h#x", "redis://u:sec%ret@h",
            "redis://u:secret@h?db=1",
            "redis://[h", "redis://[h]", "redis://a b", "redis://h/1/2", "unix://h/x", "unix://",
            "unix:///x?secret", "unix:///%00",
            "redis://u:secret%+1@h", "redis://h%0d%0a",
        ])
    func wrongAddresses(url: String) {
        let error = #expect(throws: NetworkError.self) { try RedisStore.Address(url) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("sec") == false)
    }

    @Test(arguments: ["", "a b", "a{b", "a}", "\n", String(repeating: "a", count: 65)])
    func wrongNames(name: String) {
        var configuration = RedisStore.Configuration()
        configuration.name = name
        let error = #expect(throws: NetworkError.self) {
            try RedisStore("redis://h", configuration: configuration)
        }
        #expect(error?.code == .invalidConfiguration)
    }

    /// The waits grow, up to a limit, and differ.
    @Test func backoff() {
        var backoff = RedisBackoff()
        let waits = (0..<10).map { _ in backoff.next(isLasting: false, fraction: 1) }
        #expect(waits.first == .milliseconds(50) && waits.last == .seconds(5))
        for (former, next) in zip(waits, waits.dropFirst()) { #expect(former < next || next == .seconds(5)) }
        #expect(backoff.next(isLasting: false, fraction: 0) == .milliseconds(2500))
        backoff.reset()
        #expect(backoff.next(isLasting: false, fraction: 0) == .milliseconds(25))
        #expect(backoff.next(isLasting: true, fraction: 1) == .seconds(5))
    }
}
#endif
