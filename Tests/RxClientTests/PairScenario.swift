import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The configuration of one run.
struct PairSetup {
    enum Kind { case request, progress, stream, download, events }
    /// The server's reaction to the first request to each URL, or to a token; later requests succeed.
    enum Behavior { case well, slow, unavailable, lost, silent, unconnected, expired, throttled, moved, down }

    let clock: VirtualScheduler
    let log = PairLog()
    var configuration = ClientConfiguration(baseURL: "https://main.test/v1")
    var options = RequestOptions()
    var isInClient = false
    var behavior = Behavior.well
    var method = HTTPRequest.Method.get
    var kind = Kind.request
    var terms = "max-age=60"
    var retries = 2
    /// The retries that the budget allows in its window.
    var budget: Int?
    var hasTinyCache = false
    var requiresLogin = false

    init(_ row: [Int], on clock: VirtualScheduler) {
        self.clock = clock
        for (factor, value) in zip(PairTable.factors, row) { factor.values[value].apply(&self) }
        if isInClient { configuration.options = options }
    }

    mutating func set(retries: Int, _ policy: RetryPolicy<NetworkError>) {
        self.retries = retries
        options.retry = policy
    }

    mutating func logIn(_ placement: CredentialPlacement, first: Bool = false) {
        let clock = clock
        requiresLogin = first
        configuration.session = Session(
            credential: first ? nil : Credential(token: "t0"), placement: placement, requiresLogin: first
        ) {
            Observable<Credential, NetworkError>.just(Credential(token: "t1"))
                .delay(.milliseconds(400), on: clock)
        }
    }
}

/// The requests and events seen by the server and the accessories.
final class PairLog: Sendable {
    private struct Contents {
        var isWell = false
        var seen: Set<String> = []
        /// The requests that the server has executed, whether or not it told so.
        var executed: [RequestID] = []
        var accessories: [RequestID: String] = [:]
    }

    private let contents = Mutex(Contents())

    var executed: [RequestID] { contents.withLock { $0.executed } }
    var accessories: [RequestID: String] { contents.withLock { $0.accessories } }

    var accessory: Accessory {
        Accessory(
            willStart: { self.note("start", $0) }, willStop: { request, _ in self.note("stop", request) },
            didStop: { request, _ in self.note("stopped", request) })
    }

    private func note(_ event: String, _ request: Request) {
        contents.withLock { $0.accessories[request.id, default: ""] += event + " " }
    }

    /// From now on the server does well.
    func recover() { contents.withLock { $0.isWell = true } }

    func reply(to request: Request, in setup: PairSetup) -> ScriptedTransport.Reply {
        let url = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        let isMoved = request.url.path.contains("/moved/")
        let path = "/" + request.url.lastPathComponent
        let n = url?.queryItems?.first { $0.name == "n" }?.value ?? ""
        let (isFirst, isWell) = contents.withLock { contents in
            let key = "\(request.method) \(request.url.host() ?? "") \(path) \(n)"
            return (contents.seen.insert(key).inserted, contents.isWell)
        }
        let wait = Duration.milliseconds(20)
        if !isWell, !isMoved {
            switch setup.behavior {
            case .unconnected where isFirst: return .failure(.connect, after: wait)
            case .expired where request.carries("t0"): return .status(.unauthorized, after: wait)
            case .throttled where isFirst:
                return .status(.tooManyRequests, headers: [.retryAfter: "1"], after: wait)
            case .moved where isFirst:
                let target = request.url.path.replacing(path, with: "/moved" + path)
                let query = url?.percentEncodedQuery.map { "?" + $0 } ?? ""
                return .status(.temporaryRedirect, headers: [.location: target + query], after: wait)
            default: break
            }
        }
        contents.withLock { $0.executed.append(request.id) }
        if !isWell, !isMoved {
            switch setup.behavior {
            case .unavailable where isFirst: return .status(.serviceUnavailable, after: wait)
            case .down where setup.clock.now < .seconds(30): return .status(.serviceUnavailable, after: wait)
            case .lost where isFirst: return .failure(.connectionLost, after: wait)
            case .silent where isFirst: return .stall
            case .slow where isFirst: return answer(path, n, request, setup, after: .seconds(3))
            default: break
            }
        }
        return answer(path, n, request, setup, after: wait)
    }

    private func answer(
        _ path: String, _ n: String, _ request: Request, _ setup: PairSetup, after wait: Duration
    ) -> ScriptedTransport.Reply {
        let item = #""path":"\#(path)","n":"\#(n)""#
        let whole = #"{"code":200,\#(item),"item":{\#(item)},"data":{\#(item),"item":{\#(item)}}}"#
        let tag = "\"\(path) \(n)\""
        let fields: HTTPFields = [.cacheControl: setup.terms, .eTag: tag, .setCookie: "sid=1; Path=/"]
        guard request.headerFields[.ifNoneMatch] != tag else {
            return .status(.notModified, headers: fields, after: wait)
        }
        if n == "2", setup.kind == .events {
            var fields = fields
            fields[.contentType] = "text/event-stream"
            return .bytes(Array("data: \(path) \(n)\n\n".utf8), headers: fields, after: wait)
        }
        return .json(whole, headers: fields, after: wait)
    }
}

extension Request {
    private var text: String {
        guard case .bytes(let bytes) = body else { return url.absoluteString }
        return url.absoluteString + " " + String(decoding: bytes, as: UTF8.self)
    }

    fileprivate func carries(_ token: String) -> Bool {
        text.contains("token=\(token)") || headerFields[.authorization] == "Bearer \(token)"
            || headerFields[.cookie]?.contains("token=\(token)") == true
    }

    fileprivate var isAuthorized: Bool { carries("t0") || carries("t1") }
    fileprivate var isSigned: Bool { text.contains("sign") || headerFields[.init("X-Sign")!] != nil }
    fileprivate var isRewritten: Bool { text.contains("v=2") || text.contains(#""v":"2""#) }
    fileprivate var isAtService: Bool { url.host() != "other.test" }
}

/// Waits a little before it proceeds.
struct Waiting: Interceptor {
    static let time = Duration.milliseconds(10)

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        Observable<Void, NetworkError>.just(()).delay(Self.time, on: call.scheduler)
            .flatMap { next(request) }
    }
}

/// Adds a field, after a wait, and asks for one more exchange after a 503.
struct PairSigner: RequestSigner {
    static let field = HTTPField.Name("X-Signer")!

    func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
        Observable<Void, NetworkError>.just(()).delay(.milliseconds(1), on: context.scheduler).map {
            var request = request
            request.headerFields.append(HTTPField(name: Self.field, value: "signed"))
            return request
        }
    }

    func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
        request.method == .get && head.status == .serviceUnavailable
    }
}

/// A few calls of one client, and the rules that hold whatever its options are.
final class PairScenario {
    fileprivate struct Item: Decodable, Sendable {
        let path: String
        let n: String
    }

    fileprivate struct Goods: Endpoint {
        typealias Output = Item
        let path: String
        let method: HTTPRequest.Method
        let parameters: Parameters
        let options: RequestOptions
    }

    /// The end of a call as its subscriber sees it.
    fileprivate struct Value: Sendable {
        let text: String
        var use: Response.CacheUse?
        var id: RequestID?
    }

    private struct Call {
        let path: String
        let n: String
        let method: HTTPRequest.Method
        let start: Duration
        let recorder: Recorder<Value, NetworkError>
        var isCancelled = false
        /// Event streams have no deadline and take no place in the limits, since they may be endless, and each connection
        /// has accessories and a tip of its own.
        var isEventStream = false

        var id: RequestID? { recorder.values.first?.id ?? recorder.failure?.requestID }
        var end: Duration? {
            recorder.events.last.flatMap { if case .end = $0.kind { start + $0.time } else { nil } }
        }
    }

    private let clock = VirtualScheduler()
    private let setup: PairSetup
    private let client: Client
    private let transport: ScriptedTransport
    private let files: MemoryFileSystem
    private var calls: [String: Call] = [:]
    private(set) var violations: [String] = []

    private var options: RequestOptions { setup.options }
    private var configuration: ClientConfiguration { setup.configuration }
    var succeeded: Int { calls.values.count { $0.recorder.isFinished } }

    static func run(_ row: [Int]) throws -> PairScenario {
        let scenario = PairScenario(row)
        try scenario.run()
        return scenario
    }

    private init(_ row: [Int]) {
        let setup = PairSetup(row, on: clock)
        self.setup = setup
        transport = ScriptedTransport(on: clock) { setup.log.reply(to: $0, in: setup) }
        client = Client(configuration: setup.configuration, transport: transport)
        files = MemoryFileSystem(on: clock)
    }

    // MARK: - The calls

    private func run() throws {
        let (traffic, tips) = (Recorder(client.traffic, on: clock), Recorder(client.errorTips, on: clock))
        begin("first", "/a", "1")
        begin("equal", "/a", "1")
        try clock.advance(by: .milliseconds(10))
        begin("other kind", "/b", "2", setup.method, setup.kind)
        begin("elsewhere", "https://other.test/o", "3")
        begin("cancelled", "/x", "4")
        try clock.advance(by: .milliseconds(50))
        if var call = calls["cancelled"] {
            call.isCancelled = call.recorder.completion == nil
            call.recorder.cancel()
            calls["cancelled"] = call
        }
        try clock.advance(by: .seconds(5))
        begin("again", "/a", "1")
        try clock.advance(by: .seconds(400))
        begin("stale", "/a", "1")
        try clock.advance(by: .seconds(400))
        begin("change", "/a", "1", .put)
        try clock.advance(by: .seconds(400))
        begin("changed", "/a", "1")
        try clock.advance(by: .seconds(400))
        setup.log.recover()
        begin("last", "/c", "5")
        try clock.advance(by: .seconds(400))
        checkEnds()
        checkExchanges()
        checkLimits(traffic.values)
        checkCache()
        checkPresentation(tips.values.count)
        checkSuccess()
    }

    private func begin(
        _ name: String, _ path: String, _ n: String, _ method: HTTPRequest.Method = .get,
        _ kind: PairSetup.Kind = .request
    ) {
        let content: Parameters = method == .get ? .none : ["text": "t"]
        let goods = Goods(
            path: path, method: method, parameters: content.query(["n": n]),
            options: setup.isInClient ? RequestOptions() : options)
        let files = files
        let values: Observable<Value, NetworkError> =
            switch kind {
            case .request: client.typedResponse(goods).map { Value($0) }
            case .progress:
                client.progress(of: goods).compactMap {
                    if case .finished(let it) = $0 { Value(it) } else { nil }
                }
            case .stream:
                client.stream(goods).compactMap { event in
                    if case .chunk(let bytes) = event { Value(content: bytes) } else { nil }
                }
            case .download:
                client.download(goods, to: "/f", in: files).flatMap { event in
                    guard case .finished = event else { return Observable<Value, NetworkError>.empty() }
                    return files.contents(of: "/f", limit: 1000).map { Value(content: $0 ?? []) }
                }
            case .events:
                client.events(goods).compactMap { update in
                    if case .message(let event) = update { Value(text: event.data) } else { nil }
                }
                .take(1)
            }
        calls[name] = Call(
            path: path, n: n, method: method, start: clock.now, recorder: Recorder(values, on: clock),
            isEventStream: kind == .events)
    }

    // MARK: - The rules

    private func check(_ holds: Bool, _ rule: String, _ detail: @autoclosure () -> String) {
        if !holds { violations.append("\(rule): \(detail())") }
    }

    private func checkEnds() {
        for (name, call) in calls.sorted(by: { $0.key < $1.key }) {
            let events = call.recorder.events
            let ends = events.count { if case .end = $0.kind { true } else { false } }
            check(
                call.isCancelled ? events.isEmpty : ends == 1 && call.end != nil, "one end",
                "\(name) \(events)")
            let text = "/\(call.path.split(separator: "/").last ?? "") \(call.n)"
            check(
                call.recorder.values.allSatisfy { $0.text == text }, "its own response", "\(name) \(events)")
            check(
                call.recorder.values.count == (call.recorder.isFinished ? 1 : 0), "one value",
                "\(name) \(events)")
            if let total = options.timeouts?.total, let end = call.end, !call.isEventStream {
                // Interceptors around the call are outside the deadline.
                let wait = options.interceptors.call.contains { $0 is Waiting } ? Waiting.time : .zero
                check(end - call.start <= total + wait, "deadline", "\(name) took \(end - call.start)")
            }
            guard let id = call.id, let end = call.end else { continue }
            let late = transport.exchanges.filter {
                $0.request.id == id && ($0.startedAt > end || $0.endedAt ?? .seconds(9999) > end)
            }
            check(late.isEmpty, "no exchange after the end", "\(name) \(end) \(late.map(\.startedAt))")
        }
        let host = client.servers.pair.main.host?.limits
        check(transport.runningCount == 0, "all exchanges end", "\(transport.runningCount)")
        check(client.activity.count.value == 0, "all requests end", "\(client.activity.count.value)")
        check(clock.pendingCount == 0, "no timer is left", "\(clock.pendingCount)")
        check(
            client.limiter?.waitingCount ?? 0 == 0 && host?.origin.isIdle != false, "slots given back", "")
    }

    private func checkExchanges() {
        let isAuthorized = configuration.session != nil && options.usesSession != false
        let isSigned = configuration.signature != nil && options.isSigned != false
        let isRewritten = configuration.rewriteParameters != nil && options.usesParameterRewriting != false
        for exchange in transport.exchanges {
            let request = exchange.request
            let name = "\(request.method) \(request.url) \(request.headerFields) \(exchange.startedAt)"
            check(request.headerFields[.userAgent] == configuration.userAgent, "user agent", name)
            let signs = configuration.signer != nil && options.isSigned != false && request.isAtService
            check(request.headerFields[PairSigner.field] == (signs ? "signed" : nil), "signer", name)
            guard request.isAtService else {
                check(configuration.allowsOtherOrigins, "other origins", name)
                check(!request.isAuthorized && !request.isSigned, "no secrets elsewhere", name)
                let fields: [HTTPField.Name] = [.authorization, .cookie]
                check(fields.allSatisfy { request.headerFields[$0] == nil }, "no secrets elsewhere", name)
                continue
            }
            check(request.isAuthorized == isAuthorized, "credential", name)
            check(request.isSigned == isSigned, "signature", name)
            check(request.isRewritten == isRewritten, "rewriting", name)
            check(request.headerFields[.init("X-Pair")!] == options.headers["X-Pair"], "header fields", name)
            if configuration.authentication != nil, configuration.session == nil,
                request.url.host() == "main.test"
            {
                check(
                    request.headerFields[.authorization]?.hasPrefix("Basic ") == true, "authentication", name)
            }
            let mayCarryCookies = configuration.cookies != nil && options.usesCookies != false
            let hasCookie = request.headerFields[.cookie]?.contains("sid=1") == true
            check(mayCarryCookies || !hasCookie, "no cookies", name)
            if mayCarryCookies, request.url.path.hasSuffix("/c"), calls["first"]?.recorder.isFinished == true
            {
                check(hasCookie, "cookies", name)
            }
        }
        let isShared = configuration.failoverProbeInterval != nil && configuration.standbyURL != nil
        let parallel = (options.hedging == nil ? 1 : 2) * (isShared ? 2 : 1)
        let repeats = configuration.signer == nil ? 1 : 2
        let most = ((setup.retries + 1) * parallel + (isAuthorized ? parallel : 0)) * repeats
        let counts = Dictionary(grouping: transport.exchanges.map(\.request), by: \.id)
        for (id, requests) in counts {
            let sent = requests.filter { !$0.url.path.contains("/moved/") }
            check(sent.count <= most, "attempts", "\(sent.count) of \(sent[0].url) instead of \(most)")
            let key = HTTPField.Name("Idempotency-Key")!
            if case .post = options.cachePolicy { continue }
            guard sent[0].method == .post, sent[0].headerFields[key] == nil, options.isIdempotent != true
            else {
                continue
            }
            let executions = setup.log.executed.count { $0 == id }
            check(executions <= 1, "a POST is executed once", "\(executions)")
        }
    }

    private func checkLimits(_ events: [TrafficEvent]) {
        func most(_ exchanges: [ScriptedTransport.Exchange]) -> Int {
            exchanges.map { one in
                exchanges.count {
                    $0.startedAt <= one.startedAt && $0.endedAt ?? .seconds(9999) > one.startedAt
                }
            }
            .max() ?? 0
        }
        let sent = transport.exchanges.filter {
            $0.endedAt ?? .seconds(9999) > $0.startedAt
                && $0.request.headerFields[.accept] != "text/event-stream"
        }
        for (host, exchanges) in Dictionary(grouping: sent, by: { $0.request.url.host() }) {
            let limit = configuration.hostLimits.concurrency ?? .max
            check(most(exchanges) <= limit, "limit of a host", "\(host ?? "") \(most(exchanges))")
        }
        check(most(sent) <= configuration.limits.concurrency ?? .max, "limit of all", "\(most(sent))")
        guard let budget = setup.budget, configuration.standbyURL == nil else { return }
        let times = events.filter { event in
            // A retry that is cancelled costs nothing.
            guard event.request.isAtService, !event.request.url.path.hasSuffix("/x") else { return false }
            return switch event.kind {
            case .retry, .hedged: true
            default: false
            }
        }
        .map(\.time)
        let counts = times.map { time in times.count { time <= $0 && $0 < time + .seconds(9) } }
        check(counts.max() ?? 0 <= budget, "retry budget", "\(times)")
    }

    private func checkCache() {
        let policy = options.cachePolicy ?? .never
        for (name, call) in calls.sorted(by: { $0.key < $1.key }) {
            guard let value = call.recorder.values.first else { continue }
            let (use, detail) = (value.use, "\(name) \(String(describing: value.use))")
            if policy == .never || options.cacheMode == .noStore { check(use == nil, "no cache", detail) }
            if policy == .http, setup.terms == "no-store" {
                check(use == nil || use == .joined, "no-store", detail)
            }
            if [.reload, .noCache].contains(options.cacheMode) {
                check(use != .fresh && use != .stale, "asks the server", detail)
            }
            if name == "changed", calls["change"]?.recorder.isFinished == true {
                check(use != .fresh && use != .stale, "a change removes stored responses", detail)
            }
            if name == "stale", policy == .time(.seconds(60)) {
                check(use == nil, "a stored response has its time", detail)
            }
            // The first request of a login has no account yet; bodies that are not decoded are not stored.
            let isDefault =
                options.cacheMode == nil && !setup.hasTinyCache && !setup.requiresLogin
                && options.decodesContent != false
            if name == "again", isDefault, policy == .http, setup.terms == "max-age=60",
                calls["first"]?.recorder.isFinished == true, calls["first"]?.end ?? .zero < call.start
            {
                check(use == .fresh || setup.behavior == .moved, "stored responses are used", detail)
            }
        }
        let stores = policy == .http || policy == .time(.seconds(60))
        if options.cacheMode == .onlyIfCached, stores {
            let asked = transport.requests.filter { $0.method == .get && !$0.url.path.hasSuffix("/b") }
            check(asked.isEmpty, "only from the cache", "\(asked.map(\.url))")
        }
    }

    private func checkPresentation(_ tips: Int) {
        // A request that cannot be prepared has not begun.
        let ended = calls.values.filter { $0.recorder.failure?.code != .invalidURL }
        let failures = ended.count { $0.recorder.failure != nil }
        let isHidden = options.presentation == .hidden
        if !isHidden, calls.values.contains(where: \.isEventStream) { return }
        check(tips == (isHidden ? 0 : failures), "error tips", "\(tips) for \(failures) failures")
        for (_, events) in setup.log.accessories {
            check(!isHidden && events == "start stop stopped ", "accessories", events)
        }
        if !configuration.options.accessories.isEmpty, !isHidden {
            check(
                setup.log.accessories.count == ended.count, "accessories",
                "\(setup.log.accessories.count)")
        }
    }

    /// Calls succeed when nothing stands in their way, and when a retry or a login helps.
    private func checkSuccess() {
        let isBroken =
            options.server == .standby && configuration.standbyURL == nil
            || options.cacheMode == .onlyIfCached
        guard !isBroken else { return }
        func expectSuccess(_ names: String...) {
            for name in names {
                guard let call = calls[name] else { continue }
                check(
                    call.recorder.isFinished, "success",
                    "\(name) \(String(describing: call.recorder.failure))")
            }
        }
        expectSuccess("last")
        let isPaced = configuration.hostLimits.rate != nil
        if setup.behavior == .well, !isPaced || options.timeouts?.queue == nil {
            expectSuccess("first", "equal", "other kind", "again", "stale", "change", "changed")
            if configuration.allowsOtherOrigins { expectSuccess("elsewhere") }
        }
        let helps: Set<PairSetup.Behavior> = [
            .slow, .unavailable, .lost, .silent, .unconnected, .expired, .throttled,
        ]
        guard helps.contains(setup.behavior), setup.retries >= 2, options.timeouts == nil,
            setup.budget == nil,
            configuration.circuitBreaker == nil
        else { return }
        expectSuccess("first", "equal", "again", "stale", "changed")
    }
}

extension PairScenario.Value {
    fileprivate init(content: [UInt8]) {
        let text = String(decoding: content, as: UTF8.self)
        self.init(text: text.contains(#""path":"/b","n":"2""#) ? "/b 2" : text)
    }

    fileprivate init(_ response: TypedResponse<PairScenario.Item>) {
        self.init(
            text: "\(response.output.path) \(response.output.n)", use: response.response.cacheUse,
            id: response.response.request.id)
    }
}
