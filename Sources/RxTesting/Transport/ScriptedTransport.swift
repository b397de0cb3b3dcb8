public import RxHTTP
public import RxLite
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
                    self.note(report, at: index)
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

    private func note(_ report: WebSocketPlayback.Report, at index: Int) {
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
