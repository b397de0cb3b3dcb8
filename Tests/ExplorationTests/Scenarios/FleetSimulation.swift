#if Fleet
import FoundationEssentials
import HTTPTypes
import RxFleet
import RxNetworking
import RxTesting

/// A fleet of many processes in virtual time, over a store in memory. It shares one login, at a server that revokes a login
/// whose refresh token is used twice. Members are cut off from the store and lose its replies, and the server loses
/// responses.
package struct FleetSimulation {
    /// The outcome of one run.
    package struct Outcome: Sendable {
        package var expiries = 0
        package var renewals = 0
        /// The logins after the first one.
        package var logins = 0
        /// The renewals whose response was lost, and credentials that could not be saved: each is the reason of a login.
        package var reasons = 0
        /// The members that were cut off, and those that have lost replies.
        package var faults = 0
        package var commands = 0
        /// The invariants that do not hold.
        package var violations: [String] = []

        package init() {}

        package static func += (sum: inout Outcome, other: Outcome) {
            sum.expiries += other.expiries
            sum.renewals += other.renewals
            sum.logins += other.logins
            sum.reasons += other.reasons
            sum.faults += other.faults
            sum.commands += other.commands
            sum.violations += other.violations
        }
    }

    private let clock = VirtualScheduler(
        startingAt: Date(timeIntervalSince1970: 1_000_000), stepLimit: .max)
    private let server = Kept(Server())
    private let transport: ScriptedTransport
    private let store: MemoryStore
    private let keys: SealingKeys
    private var random: SeededRandom
    private var requests: [Recorder<Response, NetworkError>] = []

    private init(seed: UInt64) throws {
        random = SeededRandom(seed)
        transport = ScriptedTransport(on: clock) { [server] request in server { $0.answer(request) } }
        store = MemoryStore(on: clock, latency: .milliseconds(1))
        keys = SealingKeys(try SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)))
    }

    // MARK: - Runs

    /// Runs a fleet through expiries of its login.
    package static func run(seed: UInt64, members count: Int = 1000, expiries: Int = 2) throws -> Outcome {
        var simulation = try FleetSimulation(seed: seed)
        return try simulation.run(members: count, expiries: expiries)
    }

    /// The kinds of objects of a run's members that outlive the run; there should be none.
    package static func remains(seed: UInt64, members count: Int) throws -> Set<String> {
        var parts: [(kind: String, object: Released)] = []
        do {
            var simulation = try FleetSimulation(seed: seed)
            _ = try simulation.run(members: count, expiries: 1) { members in
                for member in members {
                    parts += [
                        ("store", Released(object: member.store)),
                        ("session", Released(object: member.session)),
                        ("newest token", Released(object: member.newest)),
                        ("reasons", Released(object: member.reasons)),
                    ]
                }
            }
        }
        return Set(parts.filter { $0.object.object != nil }.map(\.kind))
    }

    private struct Released {
        weak let object: AnyObject?
    }

    private mutating func run(
        members count: Int, expiries: Int, _ watch: ([Member]) -> Void = { _ in }
    ) throws -> Outcome {
        let members = (0..<count).map { _ in member() }
        watch(members)
        var outcome = Outcome()
        get(members[0])
        try clock.run()
        for member in members { get(member) }
        try clock.advance(by: .seconds(10))
        for _ in 0..<expiries { try expire(members, &outcome) }
        for member in members {
            member.store.isConnected = true
            member.store.losesReplies = false
        }
        server { ($0.losesReply, $0.refusals) = (false, 0) }
        // Twice: the first may find a renewal that was lost.
        for _ in 0..<2 {
            for member in members { get(member) }
            try clock.advance(by: .seconds(40))
        }
        let last = members.map { get($0) }
        try clock.advance(by: .seconds(40))
        let end = server.now
        outcome.expiries = expiries
        outcome.renewals = end.renewals
        outcome.logins = end.logins - 1
        outcome.commands = members.reduce(0) { $0 + $1.store.commandCount }
        outcome.reasons = members.reduce(0) { $0 + $1.reasons.now }
        let waiting = requests.count { !$0.isFinished && $0.failure == nil }
        if waiting > 0 { outcome.violations.append("\(waiting) requests do not end") }
        if !end.revocations.isEmpty { outcome.violations.append("\(end.revocations) were sent twice") }
        if end.outdated > 0 { outcome.violations.append("\(end.outdated) requests with an outdated token") }
        let failed = last.count { !$0.isFinished }
        if failed > 0 { outcome.violations.append("\(failed) members do not recover") }
        if Set(members.map { $0.session.credential?.token }).count > 1 {
            outcome.violations.append("members with different credentials")
        }
        if outcome.logins > outcome.reasons {
            outcome.violations.append("\(outcome.logins) logins for \(outcome.reasons) reasons")
        }
        store.shutDown()
        return outcome
    }

    /// One expiry of the credential, with faults.
    private mutating func expire(_ members: [Member], _ outcome: inout Outcome) throws {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        let (losesReply, refuses) = (chance(20), chance(20))
        server {
            $0.accepted = 0
            if losesReply { $0.losesReply = true }
            if refuses { $0.refusals = 1 }
        }
        for member in members {
            let store = member.store
            let start = Duration.milliseconds(Int.random(in: 0..<120, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0, 1:
                outcome.faults += 1
                let length = Duration.milliseconds(Int.random(in: 1..<14_000, using: &random))
                _ = clock.schedule(after: start) { store.isConnected = false }
                _ = clock.schedule(after: start + length) { store.isConnected = true }
            case 2, 3:
                outcome.faults += 1
                _ = clock.schedule(after: start) { store.losesReplies = true }
                _ = clock.schedule(after: start + .milliseconds(30)) { store.losesReplies = false }
            default: break
            }
        }
        for member in members.shuffled(using: &random) {
            get(member)
            if chance(10) { try clock.advance(by: .microseconds(Int.random(in: 0..<2000, using: &random))) }
        }
        try clock.advance(by: .seconds(40))
    }

    // MARK: - Members

    private struct Member {
        let number: Int
        let store: MemoryStore
        let session: Session
        let client: Client
        /// The number of the newest token that it has had.
        let newest: Kept<Int>
        let reasons: Kept<Int>
        /// The subscriptions to its events, which would outlive it.
        let subscriptions: SubscriptionBag
    }

    private struct Tokens: Decodable, Sendable {
        let token: String
        let refresh: String

        var credential: Credential { Credential(token: token, refreshToken: refresh) }
    }

    private func member(_ number: Int = 0) -> Member {
        let store = store.connection(on: clock, latency: .milliseconds(1))
        var configuration = ClientConfiguration(baseURL: House.url)
        configuration.options.retry = .never
        let plain = Client(configuration: configuration, transport: transport)
        let credential = SharedCredential(in: store, key: "shop", sealing: keys, clock: clock)
        let session = Session(
            sharing: credential, loginAttemptLimit: 100, loginAttemptWindow: .seconds(1),
            renewal: { current in
                plain.post("/token", query: ["refresh": current.refreshToken ?? ""]).decode(Tokens.self)
                    .map(\.credential)
            },
            login: { plain.post("/login").decode(Tokens.self).map(\.credential) })
        configuration.session = session
        let (newest, reasons) = (Kept(0), Kept(0))
        let subscriptions = SubscriptionBag()
        credential.events.subscribe { event in
            if case .renewalLost = event { reasons { $0 += 1 } }
        }
        .store(in: subscriptions)
        session.events.subscribe { [weak session] event in
            if case .storageFailed = event { reasons { $0 += 1 } }
            let number = session?.credential.flatMap { Int($0.token.dropFirst()) } ?? 0
            newest { $0 = max($0, number) }
        }
        .store(in: subscriptions)
        return Member(
            number: number, store: store, session: session,
            client: Client(configuration: configuration, transport: transport), newest: newest,
            reasons: reasons, subscriptions: subscriptions)
    }

    @discardableResult
    private mutating func get(_ member: Member) -> Recorder<Response, NetworkError> {
        let recorder = Recorder(
            member.client.get("/goods", query: ["seen": "\(member.newest.now)"]), on: clock)
        requests.append(recorder)
        return recorder
    }

    // MARK: - The server

    private struct Server: Sendable {
        var number = 0
        /// The tokens that are valid; 0 for none.
        var accepted = 0
        var valid = 0
        var used: Set<Int> = []
        var renewals = 0
        var logins = 0
        var revocations: [Int] = []
        var outdated = 0
        /// Whether the next response to a renewal is lost.
        var losesReply = false
        /// The number of renewals that are refused.
        var refusals = 0

        mutating func answer(_ request: Request) -> ScriptedTransport.Reply {
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            func item(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
            switch request.url.path {
            case "/token":
                if refusals > 0 {
                    refusals -= 1
                    return .status(.serviceUnavailable)
                }
                let token = Int(item("refresh").dropFirst()) ?? 0
                guard token == valid, token != 0 else {
                    if used.contains(token) {
                        revocations.append(token)
                        (accepted, valid) = (0, 0)
                    }
                    return .status(.badRequest)
                }
                used.insert(token)
                renewals += 1
                let reply = issue()
                guard losesReply else { return reply }
                losesReply = false
                return .failure(.connectionLost, after: .milliseconds(50))
            case "/login":
                logins += 1
                return issue()
            default:
                let token = request.headerFields[.authorization].flatMap { Int($0.dropFirst(8)) } ?? 0
                if token < Int(item("seen")) ?? 0 { outdated += 1 }
                return token == accepted && token != 0 ? .json("1") : .status(.unauthorized)
            }
        }

        private mutating func issue() -> ScriptedTransport.Reply {
            number += 1
            (accepted, valid) = (number, number)
            return .json(
                #"{"token": "t\#(number)", "refresh": "r\#(number)"}"#, after: .milliseconds(50))
        }
    }
}

// MARK: - Cost

extension FleetSimulation {
    /// The commands to the store of a fleet without faults.
    package struct Cost: Sendable {
        package var members: Int
        /// For an expiry that all members notice at the same time.
        package var expiry: Int
        /// A second, for heartbeats.
        package var heartbeats: Double
        /// A second, for a limit of 1,000 requests a second that all members use.
        package var permits: Double
        /// The requests within that limit, a second.
        package var requests: Double
    }

    /// Measures a fleet of so many members.
    package static func cost(members count: Int) throws -> Cost {
        var simulation = try FleetSimulation(seed: 1)
        let login = try simulation.expiryCost(count)
        simulation = try FleetSimulation(seed: 1)
        let beats = try simulation.heartbeatCost(count)
        simulation = try FleetSimulation(seed: 1)
        let limit = try simulation.permitCost(count)
        return Cost(
            members: count, expiry: login, heartbeats: beats, permits: limit.commands,
            requests: limit.requests)
    }

    private mutating func expiryCost(_ count: Int) throws -> Int {
        let members = (0..<count).map { _ in member() }
        for member in members { get(member) }
        try clock.run()
        let before = members.reduce(0) { $0 + $1.store.commandCount }
        server { $0.accepted = 0 }
        for member in members { get(member) }
        try clock.run()
        return members.reduce(0) { $0 + $1.store.commandCount } - before
    }

    private func heartbeatCost(_ count: Int) throws -> Double {
        let stores = (0..<count).map { _ in store.connection(on: clock, latency: .milliseconds(1)) }
        let fleets = stores.map {
            Fleet(sharing: $0, lifetime: .seconds(15), parts: max(1, min(64, count / 100)), clock: clock)
        }
        for fleet in fleets { fleet.join() }
        try clock.advance(by: .seconds(10))
        let before = stores.reduce(0) { $0 + $1.commandCount }
        try clock.advance(by: .seconds(20))
        defer { withExtendedLifetime(fleets) {} }
        return Double(stores.reduce(0) { $0 + $1.commandCount } - before) / 20
    }

    private func permitCost(_ count: Int) throws -> (commands: Double, requests: Double) {
        let stores = (0..<count).map { _ in store.connection(on: clock, latency: .milliseconds(1)) }
        for store in stores {
            let quota = FleetQuota(in: store, clock: clock) { count }
            var configuration = ClientConfiguration(baseURL: House.url)
            configuration.options.retry = .never
            configuration.hostLimits = RequestLimits(rate: .perSecond(1000, burst: 20))
                .shared(through: quota, scope: "key")
            let client = Client(configuration: configuration, transport: transport)
            // Half more than its share.
            for _ in 0..<max(2, 22_500 / count) { client.get("/x").subscribe(onFailure: { _ in }) }
        }
        try clock.advance(by: .seconds(5))
        let (commands, requests) = (stores.reduce(0) { $0 + $1.commandCount }, transport.exchanges.count)
        try clock.advance(by: .seconds(10))
        return (
            Double(stores.reduce(0) { $0 + $1.commandCount } - commands) / 10,
            Double(transport.exchanges.count - requests) / 10
        )
    }
}
#endif
