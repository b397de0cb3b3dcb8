import FoundationEssentials
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// Resources under all the terms that a server can give, read without an account and by two, in two languages, and
    /// changed meanwhile. The store outlives restarts; with every second seed it is slow and fails.
    static let caching: Simulation.Scenario = { simulation in
        let shop = CachedShop()
        simulation.server(url) { shop.reply(to: $0) }
        let store = MemoryCacheStore()
        let overdue = Kept<Set<CacheSelection>>([])
        /// The versions that the app knows of by its own changes.
        let known = Kept<[String: Int]>([:])
        let uses = Kept<[CachedUse]>([])

        simulation.process { process in
            // Of the removals that failed the cache knows only until the process ends. Then older responses may be used.
            known { $0 = $0.filter { !overdue.now.contains(.url(url + $0.key)) } }
            let cache = ResponseCache(
                store: simulation.seed.isMultiple(of: 2)
                    ? UnreliableStore(
                        store: store, overdue: overdue, simulation: simulation, process: process)
                    : store)
            let clients = CachedRead.accounts.map { account in
                var configuration = process.configuration()
                configuration.cache = cache
                configuration.options.cachePolicy = .http
                if account != "-" {
                    configuration.session = Session(
                        credential: Credential(token: account, account: account), clock: process.scheduler
                    ) { .never() }
                }
                return Client(configuration: configuration, transport: process.transport)
            }
            @Sendable func subscribe(_ name: String, _ read: CachedRead) {
                let floor = known.now[read.path, default: 0]
                process.subscribe(
                    "\(name) \(read.name)", to: clients[read.account].typedResponse(read),
                    describing: { "\($0.output) \($0.response.cacheUse?.rawValue ?? "sent")" },
                    onNext: { answer in
                        let use = CachedUse(
                            read: read, isCheck: name == "check", floor: floor, time: process.scheduler.now,
                            content: answer.output, use: answer.response.cacheUse)
                        uses { $0.append(use) }
                    })
            }
            process.every(.seconds(2)) { turn in
                // Each is read for some turns, and then others.
                for (index, read) in CachedRead.all.enumerated() where (index + turn / 4).isMultiple(of: 3) {
                    subscribe("read", read)
                    if (index + turn).isMultiple(of: 3) { subscribe("read", read) }
                }
                guard turn % 3 == 2 else { return }
                let path = turn.isMultiple(of: 2) ? "/stock/1" : "/stock/2"
                let client = clients[turn / 3 % clients.count]
                process.subscribe(
                    "change \(path)", to: client.put(path).decode(String.self),
                    onNext: { content in
                        let version = CachedShop.version(of: content)
                        known { $0[path] = max($0[path, default: 0], version) }
                    })
            }
            process.after(quietTime - process.scheduler.now) {
                for read in CachedRead.all { subscribe("check", read) }
            }
        }

        for read in CachedRead.all {
            simulation.expectEnds(of: "read \(read.name)")
            simulation.expectSuccess(of: "check \(read.name)")
        }
        simulation.expectEnds(of: "change /stock/1")
        simulation.expectEnds(of: "change /stock/2")
        expectStates(of: simulation, uses)
        simulation.invariant("the response of its own URL, language and account") { _ in
            violations(uses) { $0.content == $0.read.content($0.version) ? nil : "" }
        }
        simulation.invariant("must-revalidate is never stale") { _ in
            violations(uses) { $0.read.resource.neverStale && $0.use == .stale ? "" : nil }
        }
        simulation.invariant("no staler than its terms allow") { log in
            // Ages are those of the wall clock.
            guard !log.events.contains(where: { $0.subject == "clock" }) else { return [] }
            return violations(uses) { use in
                guard let limit = use.read.resource.limit(of: use.use),
                    let end = shop.end(of: use.version, of: use.read.resource), use.time - end > limit
                else { return nil }
                return "which was over at \(end)"
            }
        }
        simulation.invariant("no read before its own write") { _ in
            violations(uses) { $0.version < $0.floor ? "after version \($0.floor)" : nil }
        }
        simulation.invariant("the truth in the end") { _ in
            violations(uses) { use in
                let version = shop.version(of: use.read.resource, at: use.time)
                return use.isCheck && use.version != version ? "instead of version \(version)" : nil
            }
        }
        simulation.invariant("equal requests are sent once") { log in
            // At one instant, by one process, there is at most one new request, except where the store fails to look up:
            // then the client does not know that the response is being refreshed. A request does not join one that began
            // before a change either, such as the repetition of a read that has waited meanwhile.
            let failures = log.events.filter { $0.subject.hasPrefix(UnreliableStore.readFailure) }.map(\.time)
            let changes = log.exchanges.filter { $0.request.method == .put }
            let lookup = simulation.seed.isMultiple(of: 2) ? UnreliableStore.delay : .zero
            var sent: Set<String> = []
            return log.exchanges.compactMap { exchange in
                let (time, path) = (exchange.sentAt, exchange.request.url.path())
                let starts = log.subscriptions.filter { read in
                    read.name.hasPrefix("read \(path) ") && read.startedAt <= time
                        && time - read.startedAt < .seconds(20)
                }
                let begun = (starts.map(\.startedAt).min() ?? time) - lookup
                let hasChanged = changes.contains { change in
                    let end = change.endedAt ?? time
                    return change.request.url.path() == path && change.sentAt <= time && end >= begun
                }
                guard exchange.request.method == .get, exchange.request.attempt == 1,
                    !failures.contains(time), !hasChanged
                else { return nil }
                let fields = exchange.request.headerFields
                let text =
                    "\(path) \(fields[.acceptLanguage] ?? "-") \(fields[.authorization] ?? "-") at \(time)"
                return sent.insert(text).inserted ? nil : "two requests: \(text)"
            }
        }
    }

    private static func violations(
        _ uses: Kept<[CachedUse]>, _ text: (CachedUse) -> String?
    ) -> [String] {
        uses.now.compactMap { use in
            text(use).map {
                "\(use.read.name) gets \(use.content) (\(use.use?.rawValue ?? "sent")) at \(use.time) \($0)"
            }
        }
    }

    private static func expectStates(of simulation: Simulation, _ uses: Kept<[CachedUse]>) {
        for use in [Response.CacheUse.fresh, .revalidated, .joined] {
            simulation.sometimes("a response is \(use)") { _ in uses.now.contains { $0.use == use } }
        }
        for (name, path) in [("while it is revalidated", "/news"), ("because the server fails", "/weather")] {
            simulation.sometimes("a stale response \(name)") { _ in
                uses.now.contains { $0.read.path == path && $0.use == .stale }
            }
        }
        for (name, path) in [("languages", "/page"), ("accounts", "/me")] {
            simulation.sometimes("fresh responses of two \(name)") { _ in
                Set(uses.now.filter { $0.read.path == path && $0.use == .fresh }.map(\.read.name)).count > 1
            }
        }
        simulation.sometimes("a failure rather than a stale response") { log in
            log.subscriptions("read /price - -").contains { if case .failed = $0.end { true } else { false } }
        }
        for event in UnreliableStore.failures {
            simulation.sometimes(event) { log in log.events.contains { $0.subject.hasPrefix(event) } }
        }
    }
}

/// One read that got a response.
private struct CachedUse: Sendable {
    var read: CachedRead
    var isCheck: Bool
    /// The version that the app knew of when it began to read.
    var floor: Int
    var time: Duration
    var content: String
    var use: Response.CacheUse?

    var version: Int { CachedShop.version(of: content) }
}

/// A store whose operations fail and take long where the seed says so.
private struct UnreliableStore: CacheStore {
    static let delay = Duration.milliseconds(700)
    static let readFailure = "the store fails to read"
    static let failures = [
        readFailure, "the store fails to write", "the store fails to remove", "the store is slow",
    ]

    let store: MemoryCacheStore
    /// The removals that have failed since they last succeeded.
    let overdue: Kept<Set<CacheSelection>>
    let simulation: Simulation
    let process: SimulatedProcess

    var usage: CacheUsage { store.usage }

    func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
        run(store.entries(for: key), Self.failures[0])
    }
    func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
        run(store.store(entry), Self.failures[1])
    }
    func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
        run(store.update(metadata), Self.failures[1])
    }
    func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
        run(store.remove(selection), Self.failures[2]) { isDone in
            _ = overdue { isDone ? $0.remove(selection) : $0.insert(selection).memberAfterInsert }
        }
    }

    private func run<T: Sendable>(
        _ operation: Observable<T, NetworkError>, _ failure: String,
        then: @escaping @Sendable (_ isDone: Bool) -> Void = { _ in }
    ) -> Observable<T, NetworkError> {
        .deferred {
            let fails = simulation.happens(failure)
            then(!fails)
            if fails { return .fail(NetworkError(.file, "the disk is gone")) }
            guard simulation.happens(Self.failures[3]) else { return operation }
            return operation.flatMap(.concat) { value in
                Observable.timer(Self.delay, on: process.scheduler).map { value }
            }
        }
    }
}
