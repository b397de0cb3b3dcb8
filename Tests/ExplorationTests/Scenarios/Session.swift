import FoundationEssentials
import RxNetworking
import RxSimulation
import RxTesting
import Synchronization

extension House {
    /// A session in a file, whose tokens the server and the clock let expire, and that a restart loads again.
    static let session: Simulation.Scenario = { simulation in
        /// The number of the last token, and the time of its expiry.
        let tokens = Kept((number: 0, expires: Duration.zero))
        simulation.server(url) { request in
            if request.path == "/login" {
                let number = tokens { tokens in
                    tokens = (tokens.number + 1, request.time + .seconds(20))
                    return tokens.number
                }
                return .json(#"{"token": "t\#(number)", "expiresIn": 20}"#)
            }
            if simulation.happens("token expires") { tokens { $0.expires = .zero } }
            let valid = tokens.now
            guard request[.authorization] == "Bearer t\(valid.number)", request.time < valid.expires else {
                return .status(.unauthorized)
            }
            let saved = String(decoding: simulation.files["/session"] ?? [], as: UTF8.self)
            if !saved.contains("\"t\(valid.number)\"") { simulation.note("unsaved", "t\(valid.number)") }
            return .json(#"{"items": [1, 2]}"#)
        }

        simulation.process { process in
            var configuration = process.configuration()
            let login = Client(configuration: configuration, transport: process.transport)
            let current = WeakSession()
            let session = Session(store: CredentialFile("/session", on: process.files)) {
                simulation.note("login for", current.session?.credential?.token ?? "none")
                return login.post("/login", options: RequestOptions(retry: .never)).decode(Token.self).map {
                    token in
                    Credential(
                        token: token.token,
                        expires: process.scheduler.currentDate.addingTimeInterval(Double(token.expiresIn)))
                }
            }
            current.session = session
            configuration.session = session
            let client = Client(configuration: configuration, transport: process.transport)
            process.every(.seconds(3)) { turn in
                for _ in 0..<(turn % 3 + 1) {
                    process.subscribe("cart", to: client.get("/cart"), describing: { "\($0.status.code)" })
                }
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.get("/cart"), describing: { "\($0.status.code)" })
            }
        }

        simulation.expectEnds(of: "cart")
        simulation.expectSuccess(of: "check")
        simulation.invariant("one login at a time") { log in
            let logins = log.exchanges("POST /login")
            return zip(logins, logins.dropFirst()).compactMap { former, next in
                former.endedAt.map { $0 <= next.sentAt } ?? false
                    ? nil : "\(next.place) began before the end of \(former.place)"
            }
        }
        simulation.sometimes("a login after a 401") { log in !logins(log, afterRefusal: true).isEmpty }
        simulation.sometimes("a login before a token expires") { log in
            !logins(log, afterRefusal: false).isEmpty
        }
        simulation.invariant("a token that has expired is replaced") { log in
            // Without faults of its own, a refused request is sent again and answered.
            let struck = Set(log.events.compactMap { if case .fault = $0.kind { $0.subject } else { nil } })
            guard struck.isDisjoint(with: ["clock", "app", url]), struck.allSatisfy({ !$0.hasPrefix("POST") })
            else { return [] }
            return log.subscriptions("cart").filter { $0.values == ["401"] }.map { "\($0.place) is refused" }
        }
        simulation.invariant("no token is used before it is saved") { $0.notes("unsaved") }
        simulation.invariant("one login per token", violations: repeatedLogins)
    }

    /// The logins that follow a successful one, at the time of a 401 or not.
    private static func logins(_ log: SimulationLog, afterRefusal: Bool) -> [SimulatedExchange] {
        let refusals = log.exchanges("GET /cart").filter { $0.status == .unauthorized }.compactMap(\.endedAt)
        let logins = log.exchanges("POST /login")
        return zip(logins, logins.dropFirst()).filter { $0.0.outcome == .finished }.map(\.1)
            .filter { refusals.contains($0.sentAt) == afterRefusal }
    }

    /// The tokens for which a process has logged in again although it had got a new one.
    private static func repeatedLogins(_ log: SimulationLog) -> [String] {
        var violations: [String] = []
        var former: (token: String, time: Duration)?
        for event in log.events {
            switch event.kind {
            case .started: former = nil
            case .note(let token) where event.subject == "login for":
                if let former, former.token == token {
                    let hasSucceeded = log.exchanges("POST /login").contains { login in
                        former.time <= login.sentAt && login.sentAt < event.time && login.status == .ok
                            && login.outcome == .finished
                    }
                    if hasSucceeded { violations.append("a second login for \(token) at \(event.time)") }
                }
                former = (token, event.time)
            default: break
            }
        }
        return violations
    }

    /// The session of a process, for its own login, which must not keep it alive.
    private final class WeakSession: Sendable {
        private let stored = Mutex(Stored())

        private struct Stored {
            weak var session: Session?
        }

        var session: Session? {
            get { stored.withLock { $0.session } }
            set { stored.withLock { $0.session = newValue } }
        }
    }

    private struct Token: Decodable {
        var token: String
        var expiresIn: Int
    }
}
