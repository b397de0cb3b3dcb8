import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// This stream, or `standby` if the main server does not respond, as described at
    /// ``ClientConfiguration/failoverProbeInterval``.
    ///
    /// ```swift
    /// client.response(goods, from: .main)
    ///     .failover(to: client.response(goods, from: .standby), through: client.servers)
    /// ```
    ///
    /// At each subscription, `servers` decides where to begin, and the outcome is recorded there. Without
    /// ``ClientConfiguration/failoverProbeInterval`` only the active server is used.
    ///
    /// - Parameters:
    ///   - standby: the same request at the standby server.
    ///   - servers: the servers and their state.
    ///   - mayProbe: whether a subscription may probe the main server. Pass false for requests that must not
    ///     be sent twice. Default true.
    public func failover(
        to standby: Observable, through servers: Servers, mayProbe: Bool = true
    ) -> Observable {
        failover(
            to: standby, through: servers, at: nil, mayProbe: mayProbe, isOverdue: { false }, trace: nil)
    }

    /// - Parameters:
    ///   - pair: the servers of the request; `nil` for the present ones.
    ///   - isOverdue: whether the time limit of the call has passed; asked when the stream is cancelled.
    func failover(
        to standby: Observable, through servers: Servers, at pair: ServerPair?, mayProbe: Bool,
        isOverdue: @escaping @Sendable () -> Bool, trace: Trace?
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard servers.failoverProbeInterval != nil else {
                let stream = servers.role(for: nil) == .main ? self : standby
                return stream.subscribe(observer)
            }
            FailingOver(
                self, standby, servers.begin(at: pair, mayProbe: mayProbe), servers, isOverdue, trace,
                into: observer
            )
            .start()
        }
    }
}

/// One attempt that may go to both servers.
private final class FailingOver<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let main: Observable<Element, NetworkError>
    private let standby: Observable<Element, NetworkError>
    private let visit: FailoverState.Visit
    private let servers: Servers
    private let isOverdue: @Sendable () -> Bool
    private let trace: Trace?
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    /// The outcome recorded on cancellation; `nil` once an outcome has been recorded.
    private var outcome: FailoverState.Outcome? = .unknown

    init(
        _ main: Observable<Element, NetworkError>, _ standby: Observable<Element, NetworkError>,
        _ visit: FailoverState.Visit, _ servers: Servers, _ isOverdue: @escaping @Sendable () -> Bool,
        _ trace: Trace?, into observer: Observer<Element, NetworkError>
    ) {
        self.main = main
        self.standby = standby
        self.visit = visit
        self.servers = servers
        self.isOverdue = isOverdue
        self.trace = trace
        self.observer = observer
        scope = observer.scope.child()
    }

    func start() {
        scope.onClose {
            guard let outcome = self.outcome else { return }
            self.record(outcome == .unknown && self.isOverdue() ? .noResponse : outcome)
        }
        run(visit.role)
    }

    private func run(_ role: Servers.Role) {
        let source = scope.child()
        let isFirst = role == visit.role
        let responded = isFirst ? FailoverState.Outcome.responded : .otherResponded
        (role == .main ? main : standby).subscribe(
            Observer(
                scope: source,
                next: { value in
                    if showsResponse(value) { self.record(responded) }
                    self.observer.next(value)
                },
                end: { completion in
                    source.close()
                    if case .failed(let error) = completion {
                        guard !isFirst || !error.callsForOtherServer else {
                            return self.runOther(because: error)
                        }
                        self.record(error.isResponse ? responded : .noResponse)
                    }
                    self.record(responded)
                    self.scope.close()
                    self.observer.end(completion)
                }))
    }

    private func runOther(because error: NetworkError) {
        outcome = .noResponse
        trace?.emit(.failover(to: visit.role.other, because: error))
        run(visit.role.other)
    }

    /// Only the first outcome counts.
    private func record(_ outcome: FailoverState.Outcome) {
        guard self.outcome != nil else { return }
        self.outcome = nil
        servers.end(visit, outcome)
    }
}

/// Whether a value shows that the server has responded: any value except the first events of a transfer.
private func showsResponse(_ value: some Sendable) -> Bool {
    guard let event = transferEvent(in: value) else { return true }
    switch event {
    case .uploaded, .interim, .redirected: return false
    case .head, .chunk, .trailers, .finished: return true
    }
}

extension NetworkError {
    /// Whether the server gave a response that the other server would not improve.
    fileprivate var isResponse: Bool { head != nil && !callsForOtherServer }

    /// Whether the request may be sent to the other server, and that may help. The documentation of
    /// ``ClientConfiguration/failoverProbeInterval`` repeats the rules.
    fileprivate var callsForOtherServer: Bool {
        guard isReplayable else { return false }
        if code == .status { return isIdempotent && [502, 503, 504].contains(status?.code) }
        return isUnsent && code.recoveryOptions.contains(.otherServer)
    }
}

// MARK: - The rules

/// The active server, and the probes of the main one: a pure state machine.
struct FailoverState: Sendable {
    /// One attempt in progress.
    struct Visit: Sendable, Equatable {
        /// The server that the attempt goes to first.
        let role: Servers.Role
        let isProbe: Bool
        /// `nil` if the attempt does not affect the state.
        fileprivate let epoch: Int?
    }

    /// The outcome of an attempt.
    enum Outcome: Sendable {
        /// The first server responded, or the outcome does not show that it could not.
        case responded
        /// The first server did not respond, and the other one did.
        case otherResponded
        /// Neither server responded, or the first did not and the other was not asked.
        case noResponse
        /// The attempt was cancelled, or the response broke off.
        case unknown
    }

    private let probeInterval: Duration
    private(set) var active = Servers.Role.main
    /// The number of changes: an attempt that began before the latest change does not affect the state.
    private var epoch = 0
    private var nextProbe = Duration.zero
    /// Whether a probe runs whose outcome counts: any change of the active server ends that.
    private var isProbing = false

    init(probeInterval: Duration) { self.probeInterval = probeInterval }

    mutating func begin(mayProbe: Bool, at now: Duration) -> Visit {
        guard active == .standby, mayProbe, !isProbing, now >= nextProbe else {
            return Visit(role: active, isProbe: false, epoch: epoch)
        }
        isProbing = true
        return Visit(role: .main, isProbe: true, epoch: epoch)
    }

    /// Begins an attempt at servers that have been replaced.
    func beginOutdated() -> Visit { Visit(role: active, isProbe: false, epoch: nil) }

    mutating func end(_ visit: Visit, _ outcome: Outcome, at now: Duration) {
        guard visit.epoch == epoch else { return }
        guard visit.isProbe else {
            if case .otherResponded = outcome { use(visit.role.other, at: now) }
            return
        }
        isProbing = false
        switch outcome {
        case .responded: use(.main, at: now)
        case .otherResponded, .noResponse: nextProbe = now + probeInterval
        case .unknown: break
        }
    }

    /// Makes `role` the active server, regardless of attempts in progress.
    mutating func use(_ role: Servers.Role, at now: Duration) {
        active = role
        outdateAttempts()
        nextProbe = now + probeInterval
    }

    /// Makes attempts in progress affect the state no longer, because one of the servers is another one now.
    mutating func outdateAttempts() {
        epoch += 1
        isProbing = false
    }
}
