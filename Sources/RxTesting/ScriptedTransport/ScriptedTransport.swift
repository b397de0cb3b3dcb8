import HTTPTypes
public import RxHTTP
public import RxLite
public import RxWebSocket
import Synchronization

/// A transport with scripted responses, in virtual time, which records its requests.
///
/// ```swift
/// let clock = VirtualScheduler()
/// let transport = ScriptedTransport(on: clock, [
///     .when(.get, "/goods", .failure(.connect), .json("[1, 2]", after: .milliseconds(30))),
///     .when(.post, "/login", .json(#"{"token": "t"}"#)),
/// ])
/// ```
///
/// It keeps the contract of `Transport`: nothing is sent before a subscription, each subscription is one
/// exchange, cancelling closes it, and while the subscription is paused no event is delivered. No response
/// arrives within the subscribing call: advance the clock.
///
/// The `timeouts` of a request apply on the clock, as on a network: `connect` before a failure that leaves the request
/// unsent, `idle` between the steps of an upload and of a response, `firstByte` before the response, and `attempt`. Set
/// them to `nil` for responses that take longer.
///
/// A request that no rule matches fails with `NetworkError.Code.unscripted`. The trait `.usesEveryRule` of
/// RxTestingSupport fails a test that leaves a rule without a request.
public final class ScriptedTransport: Transport {
    /// The clock of the exchanges.
    public let clock: VirtualScheduler
    /// The files that responses are downloaded to.
    public let files: any FileSystem

    private let reply: @Sendable (Request) -> Reply
    private let log = Mutex<[Exchange]>([])

    /// Creates a transport that calls `reply` at each subscription.
    ///
    /// - Parameters:
    ///   - scheduler: the clock of the exchanges.
    ///   - files: the files that responses are downloaded to. Default: a ``MemoryFileSystem`` without files.
    ///   - reply: makes the reply to a request.
    public init(
        on scheduler: VirtualScheduler, files: (any FileSystem)? = nil,
        reply: @escaping @Sendable (Request) -> Reply
    ) {
        clock = scheduler
        self.files = files ?? MemoryFileSystem(on: scheduler)
        self.reply = reply
    }

    /// Creates a transport that responds by the first matching rule.
    ///
    /// - Parameters:
    ///   - scheduler: the clock of the exchanges.
    ///   - files: the files that responses are downloaded to. Default: a ``MemoryFileSystem`` without files.
    ///   - rules: the rules.
    public convenience init(
        on scheduler: VirtualScheduler, files: (any FileSystem)? = nil, _ rules: [Rule]
    ) {
        let book = RuleBook(rules)
        self.init(on: scheduler, files: files) { request in book.reply(to: request) }
    }

    /// Creates a transport that gives these replies in their order, whatever the requests are; the last one repeats.
    ///
    /// ```swift
    /// let transport = ScriptedTransport(on: clock, replies: [.failure(.connect), .json("[1, 2]")])
    /// ```
    ///
    /// - Parameters:
    ///   - scheduler: the clock of the exchanges.
    ///   - files: the files that responses are downloaded to. Default: a ``MemoryFileSystem`` without files.
    ///   - replies: the replies. Without any, requests wait for ever.
    public convenience init(
        on scheduler: VirtualScheduler, files: (any FileSystem)? = nil, replies: [Reply]
    ) {
        let script = Script(replies)
        self.init(on: scheduler, files: files) { _ in script.next() }
    }

    /// The clock.
    public var scheduler: any Scheduler { clock }

    /// All exchanges so far, in the order of their subscriptions.
    public var exchanges: [Exchange] { log.withLock { $0 } }

    /// The requests of all exchanges so far.
    public var requests: [Request] { exchanges.map(\.request) }

    /// The exchanges that were cancelled before their end.
    public var cancelled: [Exchange] { exchanges.filter { $0.outcome == .cancelled } }

    /// The number of exchanges that have neither ended nor been cancelled.
    public var runningCount: Int { log.withLock { $0.count { $0.outcome == .running } } }

    /// The scripted exchange of a request.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let reply = self.reply(request)
            let index = self.begin(request)
            if let webSocket = reply.webSocket {
                return WebSocketPlayback(webSocket, of: request, to: observer, on: self.clock) { report in
                    self.record(report, at: index)
                    return nil
                }
                .start()
            }
            let playback = Playback(reply.steps, of: request, to: observer, on: self.clock) { outcome in
                self.end(index, outcome)
            }
            playback.start()
        }
    }

    private func begin(_ request: Request) -> Int {
        let exchange = Exchange(request: request, startedAt: scheduler.now)
        return log.withLock { log in
            log.append(exchange)
            return log.count - 1
        }
    }

    private func record(_ report: WebSocketPlayback.Report, at index: Int) {
        switch report {
        case .message(let message): log.withLock { $0[index].messages.append(message) }
        case .closing(let code): log.withLock { $0[index].closeCode = code }
        case .end(let outcome): end(index, outcome)
        }
    }

    private func end(_ index: Int, _ outcome: Exchange.Outcome) {
        let now = scheduler.now
        log.withLock { log in
            log[index].outcome = outcome
            log[index].endedAt = now
        }
    }
}

extension ScriptedTransport {
    /// One subscription to one request, with its outcome.
    public struct Exchange: Sendable {
        /// The request as it was sent.
        public let request: Request
        /// The virtual time of the subscription.
        public let startedAt: Duration
        /// The virtual time of the end or the cancel; `nil` while it runs.
        public internal(set) var endedAt: Duration?
        /// Its outcome so far.
        public internal(set) var outcome: Outcome = .running
        /// The messages that the client has sent over a scripted WebSocket.
        public internal(set) var messages: [WebSocketMessage] = []
        /// The code of the client's close frame, if it has sent one.
        public internal(set) var closeCode: WebSocketCloseCode?
    }
}

extension ScriptedTransport.Exchange {
    /// The outcome of an exchange.
    public enum Outcome: Sendable, Equatable {
        /// Neither ended nor cancelled.
        case running
        /// The complete response was delivered.
        case finished
        /// The exchange failed.
        case failed(NetworkError.Code)
        /// The subscriber cancelled.
        case cancelled
    }
}

/// The rules of a ``ScriptedTransport``, and how often each has responded.
final class RuleBook: Sendable {
    private let rules: [ScriptedTransport.Rule]
    private let counts: Mutex<[Int]>

    init(_ rules: [ScriptedTransport.Rule]) {
        self.rules = rules
        counts = Mutex(Array(repeating: 0, count: rules.count))
        RequiredRules.current?.add(self)
    }

    /// The required rules that have not responded, as text.
    var unused: [String] {
        zip(rules, counts.withLock { $0 }).filter { $0.0.isRequired && $0.1 == 0 }.map(\.0.text)
    }

    func reply(to request: Request) -> ScriptedTransport.Reply {
        guard let index = rules.firstIndex(where: { $0.matches(request) }) else {
            let asked = "\(request.method.rawValue) \(request.url.originAndPath)"
            return .failure(.unscripted, "no rule of the scripted transport matches \(asked)")
        }
        let turn = counts.withLock { counts in
            defer { counts[index] += 1 }
            return counts[index]
        }
        // ``ScriptedTransport/Rule/when(_:_:query:body:if:_:)`` gives each rule at least one.
        let replies = rules[index].replies
        return replies[min(turn, replies.count - 1)]
    }
}

/// The rules of all scripted transports that a test makes, for a test that requires them to be used. Thread-safe.
package final class RequiredRules: Sendable {
    /// Takes part in the running task and its children; `nil` where rules need not be used.
    @TaskLocal package static var current: RequiredRules?

    private let books = Mutex<[RuleBook]>([])

    package init() {}

    func add(_ book: RuleBook) { books.withLock { $0.append(book) } }

    /// The rules that no request has used, as text, in the order of their transports.
    package var unused: [String] { books.withLock { $0 }.flatMap(\.unused) }
}
