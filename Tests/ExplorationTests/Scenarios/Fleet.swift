#if Fleet
import FoundationEssentials
import HTTPTypes
import RxFleet
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// Processes that share one login over a store, against a server that revokes a login whose refresh token is used twice.
    /// Processes are killed, cut off from the store, and lose its replies.
    static let fleet: Simulation.Scenario = { simulation in
        let server = FamilyServer(simulation)
        simulation.server(url) { server.answer($0) }
        let store = MemoryStore(on: simulation.clock, latency: .milliseconds(2))
        for number in 1...4 {
            simulation.process("app \(number)") { process in
                FleetProcess(process, over: store, simulation).start()
            }
        }

        simulation.expectEnds(of: "goods")
        simulation.expectSuccess(of: "check")
        simulation.invariant("no login is revoked") { _ in
            server.revocations.map { "the refresh token \($0) was used twice" }
        }
        simulation.invariant("one refresh per expiry, or a login that was lost") { log in
            // The first login; then those for lost renewals, failed logins, and credentials that could not be saved.
            let reasons =
                1 + log.notes("renewal lost").count + log.notes("not saved").count
                + log.notes("refused").count
                + log.exchanges("POST /token").count { $0.status == .badRequest }
                + log.exchanges("POST /login").count { $0.outcome != .finished || $0.status != .ok }
                + log.events.count { $0.kind == .started } - 4
            let logins = log.exchanges("POST /login").count
            return logins > reasons ? ["\(logins) logins for \(reasons) reasons"] : []
        }
        simulation.invariant("no request carries an older token than the newest that its process has adopted")
        {
            log in outdatedRequests(log)
        }
        simulation.invariant("the store is left") { _ in
            // The store must not keep the processes that have been killed.
            store.shutDown()
            return []
        }
        simulation.sometimes("a renewal is lost") { !$0.notes("renewal lost").isEmpty }
        simulation.sometimes("a token is renewed") {
            $0.exchanges("POST /token").contains { $0.status == .ok }
        }
        simulation.sometimes("a process is superseded") { !$0.notes("superseded").isEmpty }
        simulation.sometimes("a process receives the credential of another") { !$0.notes("received").isEmpty }
        simulation.sometimes("a logout reaches the others") { $0.notes("logged out").count > 1 }
    }

    private static func outdatedRequests(_ log: SimulationLog) -> [String] {
        var violations: [String] = []
        let requests = Dictionary(grouping: log.exchanges("GET /goods")) { $0.process }
        for (process, exchanges) in requests.sorted(by: { $0.key < $1.key }) {
            /// The tokens that the process has adopted, with their times.
            let adopted = log.events.compactMap { event -> (time: Duration, token: String)? in
                if event.subject == process, event.kind == .started { return (event.time, "any") }
                guard event.subject == "\(process) has", case .note(let token) = event.kind else {
                    return nil
                }
                return (event.time, token)
            }
            for exchange in exchanges {
                guard let latest = adopted.last(where: { $0.time < exchange.sentAt }), latest.token != "any"
                else { continue }
                let token =
                    exchange.request.headerFields[.authorization].map { String($0.dropFirst(7)) } ?? "none"
                let isCurrent = adopted.contains { $0.token == token && $0.time >= latest.time }
                if !isCurrent { violations.append("\(exchange.place) carries \(token), not \(latest.token)") }
            }
        }
        return violations
    }

    /// A server with refresh tokens that are valid once.
    private final class FamilyServer: Sendable {
        private struct Contents {
            var number = 0
            var refreshTokens: [String: Bool] = [:]
            var accepted = ""
            var revocations: [String] = []
        }

        private struct Token: Encodable {
            var token: String
            var refresh: String
        }

        private let simulation: Simulation
        private let contents = Kept(Contents())

        init(_ simulation: Simulation) { self.simulation = simulation }

        var revocations: [String] { contents.now.revocations }

        func answer(_ request: SimulatedRequest) -> ScriptedTransport.Reply {
            switch request.path {
            case "/login": return issue()
            case "/token":
                let token = request.query["refresh"] ?? ""
                let isValid = contents { contents -> Bool in
                    defer {
                        if contents.refreshTokens[token] == true { contents.refreshTokens[token] = false }
                    }
                    guard let isUnused = contents.refreshTokens[token] else { return false }
                    guard !isUnused else { return true }
                    contents.revocations.append(token)
                    contents.accepted = ""
                    contents.refreshTokens = contents.refreshTokens.mapValues { _ in false }
                    return false
                }
                guard isValid else { return .status(.badRequest) }
                return issue()
            default:
                if simulation.happens("token expires") { contents { $0.accepted = "" } }
                let isKnown = contents { $0.accepted == request[.authorization] ?? "-" }
                return isKnown ? .json("1", after: .milliseconds(20)) : .status(.unauthorized)
            }
        }

        private func issue() -> ScriptedTransport.Reply {
            let number = contents { contents -> Int in
                contents.number += 1
                contents.accepted = "Bearer t\(contents.number)"
                contents.refreshTokens["r\(contents.number)"] = true
                return contents.number
            }
            return .json(
                #"{"token": "t\#(number)", "refresh": "r\#(number)"}"#, after: .milliseconds(200))
        }
    }

    /// One process of the fleet.
    private final class FleetProcess: Sendable {
        private struct Tokens: Decodable, Sendable {
            var token: String
            var refresh: String
        }

        private let process: SimulatedProcess
        private let simulation: Simulation
        private let store: MemoryStore
        private let session: Session
        private let client: Client

        init(_ process: SimulatedProcess, over hub: MemoryStore, _ simulation: Simulation) {
            self.process = process
            self.simulation = simulation
            store = hub.connection(on: process.scheduler, latency: .milliseconds(2))
            var configuration = process.configuration()
            let plain = Client(configuration: configuration, transport: process.transport)
            guard let key = try? SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)) else {
                preconditionFailure("the key has 32 bytes")
            }
            let credential = SharedCredential(
                in: store, key: "shop", sealing: SealingKeys(key), leaseTime: .seconds(3),
                clock: process.scheduler)
            session = Session(
                sharing: credential, loginAttemptLimit: 100, loginAttemptWindow: .seconds(1),
                renewal: { current in
                    plain.post(
                        "/token", query: ["refresh": current.refreshToken ?? ""],
                        options: RequestOptions(retry: .never)
                    )
                    .decode(Tokens.self).map { Credential(token: $0.token, refreshToken: $0.refresh) }
                },
                login: {
                    plain.post("/login", options: RequestOptions(retry: .never)).decode(Tokens.self)
                        .map { Credential(token: $0.token, refreshToken: $0.refresh) }
                })
            configuration.session = session
            client = Client(configuration: configuration, transport: process.transport)
            // Until the session is released, which is after the last request.
            let name = process.name
            credential.events.subscribe { [weak simulation] event in
                switch event {
                case .renewalLost: simulation?.note("renewal lost", name)
                case .superseded: simulation?.note("superseded", name)
                case .received: simulation?.note("received", name)
                case .loggedOut: simulation?.note("logged out", name)
                case .renewed: break
                }
            }
            session.events.subscribe { [weak simulation, weak session] event in
                if case .storageFailed = event { simulation?.note("not saved", name) }
                if case .loggedOut(.some) = event { simulation?.note("refused", name) }
                simulation?.note("\(name) has", session?.credential?.token ?? "none")
            }
        }

        func start() {
            process.every(.seconds(2)) { turn in self.act(turn) }
            process.after(quietTime - process.scheduler.now) {
                self.process.subscribe(
                    "check", to: self.client.get("/goods"), describing: { "\($0.status.code)" })
            }
        }

        private func act(_ turn: Int) {
            if simulation.happens("store is cut off") {
                store.isConnected = false
                process.after(.seconds(turn % 9 + 1)) { self.store.isConnected = true }
            }
            if simulation.happens("store loses replies") {
                store.losesReplies = true
                process.after(.milliseconds(turn % 5 * 100 + 50)) { self.store.losesReplies = false }
            }
            if simulation.happens("user logs out and in") {
                session.logOut()
                process.after(.milliseconds(500)) {
                    self.session.logIn(with: Credential(token: "old", refreshToken: "none"))
                }
            }
            for _ in 0..<(turn % 2 + 1) {
                process.subscribe("goods", to: client.get("/goods"), describing: { "\($0.status.code)" })
            }
        }
    }
}
#endif
