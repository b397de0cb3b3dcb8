import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting
import Synchronization

extension House {
    /// Two users who take turns with one client: logins, logouts, refused renewals, and whatever waits meanwhile.
    ///
    /// Each login has a number, which its tokens repeat. Every request names in `X-For` the login at the start of its
    /// subscription, and every value names the user that the server took it for.
    static let accounts: Simulation.Scenario = { simulation in
        let shop = Shop(simulation)
        simulation.server(url) { shop.answer($0) }
        let logins = Kept(0)
        let store = MemoryCacheStore()
        simulation.process { process in User(process, logins, LateStore(store, process), simulation).start() }

        simulation.invariant("nothing is sent as another account") { log in
            log.exchanges.compactMap { exchange in
                guard let owner = exchange.request.headerFields[.init("X-For")!] else { return nil }
                let sender = exchange.request.sender
                return owner == sender ? nil : "\(exchange.place) of \(owner) is sent as \(sender)"
            }
        }
        simulation.invariant("no cookie of another user is sent") { log in
            log.exchanges.compactMap { exchange in
                guard let cookie = exchange.request.headerFields[.cookie]?.split(separator: "=").last
                else { return nil }
                return exchange.request.sender.hasPrefix(cookie)
                    ? nil : "\(exchange.place) as \(exchange.request.sender) carries \(cookie)"
            }
        }
        simulation.invariant("no last event of another account is sent") { log in
            log.exchanges.compactMap { exchange in
                guard let last = exchange.request.headerFields[.init("Last-Event-ID")!] else { return nil }
                return last.hasPrefix(exchange.request.sender + "/")
                    ? nil : "\(exchange.place) as \(exchange.request.sender) continues after \(last)"
            }
        }
        simulation.invariant("no message is sent as another account") { log in
            log.exchanges("GET /chat").flatMap { chat in
                chat.messages.compactMap { message in
                    guard case .text(let text) = message, !text.hasPrefix(chat.request.sender + "/") else {
                        return nil
                    }
                    return "\(chat.place) as \(chat.request.sender) sends \(text)"
                }
            }
        }
        simulation.invariant("nothing of another user is received") { log in
            log.subscriptions.flatMap { subscription in
                let owner = subscription.name.split(separator: " ").last ?? ""
                guard let user = owner.first, !owner.hasPrefix("-") else { return [String]() }
                return subscription.values.filter { $0.contains(where: { "AB".contains($0) && $0 != user }) }
                    .map { "\(subscription.place) receives \($0)" }
            }
        }
        simulation.expectEnds(of: "check")
        simulation.sometimes("a waiting order ends with its account") { isEnded("order", in: $0) }
        simulation.sometimes("events end with their account") { isEnded("events", in: $0) }
        simulation.sometimes("a resumed stream ends with its account") { isEnded("lines", in: $0) }
        simulation.sometimes("a WebSocket ends with its account") { isEnded("chat", in: $0) }
        simulation.sometimes("a queued message ends with its account") { isEnded("message", in: $0) }
        simulation.sometimes("a walk through pages ends with its account") { isEnded("items", in: $0) }
        simulation.sometimes("a queued request ends with its account") { isEnded("queued", in: $0) }
        simulation.sometimes("a login is refused") { !$0.notes("refused").isEmpty }
        simulation.sometimes("a token is renewed") {
            $0.exchanges("POST /token").contains { $0.status == .ok }
        }
        simulation.sometimes("a later login finds a stored response") { log in
            log.subscriptions.count { $0.name.hasPrefix("mine") && !$0.values.isEmpty }
                > log.exchanges("GET /mine").count { $0.outcome == .finished }
        }
        simulation.sometimes("a message of a second account arrives") { log in
            Set(log.exchanges("GET /chat").filter { !$0.messages.isEmpty }.map { $0.request.sender }).count
                > 1
        }
    }

    /// Whether a subscription has failed because its account is gone.
    private static func isEnded(_ name: String, in log: SimulationLog) -> Bool {
        log.subscriptions.contains { $0.name.hasPrefix(name + " ") && $0.end == .failed("loginExpired") }
    }

    /// The server of both users.
    private final class Shop: Sendable {
        private let simulation: Simulation
        /// The number of the valid token of each login.
        private let valid = Kept<[String: Int]>([:])

        init(_ simulation: Simulation) { self.simulation = simulation }

        func answer(_ request: SimulatedRequest) -> ScriptedTransport.Reply {
            let sender = request.request.sender
            if request.path == "/token" {
                let login = request.query["login"] ?? ""
                guard !simulation.happens("renewal is refused") else {
                    simulation.note("refused", login)
                    return .status(.forbidden)
                }
                let number = valid { valid in valid[login, default: 0] }
                return .json("\"\(login).\(number)\"", after: .milliseconds(300))
            }
            guard sender != "-" else {
                return request.path == "/mine" ? .json("\"-\"", headers: Self.fresh) : .status(.unauthorized)
            }
            if simulation.happens("token expires") { valid { $0[sender, default: 0] += 1 } }
            let number = valid { $0[sender, default: 0] }
            guard request[.authorization] == "Bearer \(sender).\(number)" else {
                return .status(.unauthorized)
            }
            let user = String(sender.prefix(1))
            switch request.path {
            case "/mine": return .json("\"\(user)\"", headers: Self.fresh, after: .milliseconds(50))
            case "/events": return events(for: sender)
            case "/lines":
                let lines = (0..<3).map { "\"\(user)\($0)\"\n" }.joined()
                return .steps(
                    .head(ResponseHead(status: .ok)), .chunk(Array(lines.utf8)), .wait(.seconds(1)),
                    .fail(NetworkError(.connectionLost, "cut")))
            case "/chat":
                return .webSocket(.send(.text(user)), .receive, .receive, .wait(.seconds(1)), .end)
            case "/items":
                return .json("[\"\(user)\", \"\(user)\"]", after: .milliseconds(400))
            default:
                return .json(
                    "\"\(user)\"", headers: [.setCookie: "user=\(user)"], after: .milliseconds(700))
            }
        }

        private static let fresh: HTTPFields = [.cacheControl: "max-age=8"]

        private func events(for sender: String) -> ScriptedTransport.Reply {
            let texts = (1...2).map { "id: \(sender)/\($0)\ndata: \(sender.prefix(1))\n\n" }
            return .steps(
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])),
                .chunk(Array(texts[0].utf8)), .wait(.seconds(1)), .chunk(Array(texts[1].utf8)), .finish)
        }
    }

    /// The app of a machine that two users share.
    private final class User: Sendable {
        private let process: SimulatedProcess
        private let simulation: Simulation
        private let logins: Kept<Int>
        private let session: Session
        private let client: Client
        private let sink = WebSocketSink()
        private let queue = RequestQueue(limit: 1)

        init(
            _ process: SimulatedProcess, _ logins: Kept<Int>, _ store: LateStore, _ simulation: Simulation
        ) {
            self.process = process
            self.simulation = simulation
            self.logins = logins
            var configuration = process.configuration()
            let plain = Client(configuration: configuration, transport: process.transport)
            let renewal = { @Sendable (credential: Credential) in
                plain.post(
                    "/token", query: ["login": credential.login], options: RequestOptions(retry: .never)
                )
                .decode(String.self).map { Credential(token: $0) }
            }
            session = Session(
                store: CredentialFile("/credential", on: process.files), renewal: renewal,
                login: { .fail(NetworkError(.loginExpired, "the users log in by hand")) })
            configuration.session = session
            configuration.cookies = CookieJar(publicSuffixes: .unknown)
            configuration.cache = ResponseCache(store: store)
            configuration.options.cachePolicy = .http
            configuration.hostLimits = RequestLimits(concurrency: 2)
            configuration.options.interceptors.call.append(Hesitation())
            client = Client(configuration: configuration, transport: process.transport)
        }

        /// The login of requests that begin now.
        private var owner: String { session.credential?.login ?? "-" }

        func start() {
            process.subscribe(
                "restore", to: session.restore(), describing: { "" }, onEnd: { _ in self.begin() })
        }

        private func begin() {
            if session.credential == nil { logIn() }
            // Users change in the middle of all this.
            process.every(.milliseconds(6100)) { turn in
                switch turn % 4 {
                case 2: self.session.logOut()
                case 0: self.process.after(.milliseconds(300)) { self.logIn() }
                default: self.logIn()
                }
            }
            process.every(.milliseconds(1700)) { turn in
                self.ask("mine") { self.client.get("/mine", headers: $0).decode(String.self) }
                for _ in 0..<(turn % 3 + 1) {
                    self.ask("order") { self.client.post("/orders", headers: $0).decode(String.self) }
                }
                self.ask("queued") {
                    self.client.get("/stock", headers: $0).decode(String.self).queued(in: self.queue)
                }
                self.ask("items") {
                    self.client.items(
                        Items(headers: $0), .numbered(size: 2), options: PagingOptions(maxPages: 3))
                }
            }
            process.every(.milliseconds(900)) { turn in
                let text = "\(self.owner)/\(turn)"
                self.process.subscribe("message \(self.owner)", to: self.sink.send(text), describing: { "" })
            }
            follow("events") { self.client.events(.get("/events", headers: $0)).messages().map(\.data) }
            follow("lines") { headers in
                self.client.stream(
                    .get("/lines", headers: headers),
                    resumption: .next { _ in .get("/lines", headers: headers) },
                    reading: { $0.jsonLines(String.self) })
            }
            follow("chat") {
                var settings = WebSocketSettings()
                settings.reconnection = .always()
                return self.client.webSocket(
                    "/chat", headers: $0, sending: self.sink, settings: settings
                ).texts()
            }
            process.after(quietTime - process.scheduler.now) {
                self.ask("check") { self.client.get("/stock", headers: $0).decode(String.self) }
            }
        }

        private func logIn() {
            let number = logins { logins in
                logins += 1
                return logins
            }
            let user = number % 2 == 1 ? "A" : "B"
            session.logIn(with: Credential(token: "\(user)\(number).0", account: user))
        }

        private func ask(
            _ name: String, _ stream: (Headers) -> Observable<String, NetworkError>
        ) {
            let owner = owner
            process.subscribe("\(name) \(owner)", to: stream(["X-For": owner]), describing: { $0 })
        }

        /// Subscribes, and again a second after each end, until the quiet time.
        private func follow(
            _ name: String, _ stream: @escaping @Sendable (Headers) -> Observable<String, NetworkError>
        ) {
            guard process.scheduler.now < .seconds(60) else { return }
            let owner = owner
            process.subscribe(
                "\(name) \(owner)", to: stream(["X-For": owner]), describing: { $0 },
                onEnd: { _ in self.process.after(.seconds(1)) { self.follow(name, stream) } })
        }
    }

    private struct Items: Endpoint {
        typealias Output = [String]
        let path = "/items"
        let options: RequestOptions

        init(headers: Headers) { options = RequestOptions(headers: headers) }
    }

    /// Lets an order wait before it is sent.
    private struct Hesitation: Interceptor {
        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> {
            guard request.url.path == "/orders" else { return next(request) }
            return Observable<Void, Never>.timer(.milliseconds(300), on: call.scheduler)
                .setFailureType(to: NetworkError.self).flatMap { next(request) }
        }
    }

    /// A store that takes a while for each lookup.
    private struct LateStore: CacheStore {
        let store: MemoryCacheStore
        let process: SimulatedProcess

        init(_ store: MemoryCacheStore, _ process: SimulatedProcess) {
            self.store = store
            self.process = process
        }

        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
            store.entries(for: key).delay(.milliseconds(200), on: process.scheduler)
        }

        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { store.store(entry) }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
            store.update(metadata)
        }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { store.remove(selection) }
        var usage: CacheUsage { store.usage }
    }
}

extension Credential {
    /// The user and the number of the login.
    fileprivate var login: String { String(token.prefix { $0 != "." }) }
}

extension Request {
    /// The login of the token that the request carries; `-` for none.
    fileprivate var sender: String {
        headerFields[.authorization].map { String($0.dropFirst("Bearer ".count).prefix { $0 != "." }) } ?? "-"
    }
}
