import HTTPTypes
public import RxHTTP
public import RxLite
import Synchronization

/// Protects a failing host: when too many requests fail, further ones fail at once with
/// ``NetworkError/Code/circuitOpen`` for a while, and nothing is sent. Then a few requests probe whether the
/// host has recovered.
///
/// ```swift
/// configuration.circuitBreaker = CircuitBreaker.Policy(failureRatio: 0.5, minimumRequests: 20)
/// ```
///
/// A client with a policy has a breaker for each host; ``Client/circuitBreaker(of:)`` returns it. Errors of
/// the transport and statuses from 500 on are failures. A refusal by the server (400 to 499), an error of the
/// client itself (an invalid request, a full queue) and a cancellation are not. With RxFleet, a circuit opens and
/// closes for several processes. Safe from any thread.
public final class CircuitBreaker: Sendable {
    private let clock: SharedClock
    private let circuit: Mutex<Circuit>
    private let host: String
    private let openDuration: Duration
    private let shared: (any SharedCircuits)?
    private let subscriptions = SubscriptionBag()

    private let shownState = MutableProperty(State.closed)

    /// The state of the circuit. It opens and closes with the outcomes of requests, and is half-open from the
    /// first probe on.
    public var state: Property<State> { Property(shownState) }

    /// Creates a closed breaker.
    ///
    /// - Parameters:
    ///   - policy: when the circuit opens and for how long.
    ///   - clock: the clock of the breaker. Default `nil`: the virtual clock of the first stream that it guards, or the
    ///     library's shared clock.
    ///   - host: the name under which other processes know the circuit, if the policy shares it. Default: empty.
    public init(_ policy: Policy = Policy(), clock: (any Scheduler)? = nil, host: String = "") {
        self.clock = SharedClock(clock)
        circuit = Mutex(Circuit(policy))
        self.host = host
        openDuration = policy.openDuration
        shared = policy.sharing?.circuits
        shared?.changes(of: host).subscribe { [weak self] change in
            guard let self else { return }
            let now = self.clock.scheduler.now
            self.change { $0.follow(change, at: now) }
        }.store(in: subscriptions)
    }

    /// Closes the circuit and resets the counts.
    public func reset() {
        change { $0.reset() }
        shared?.report(.closed, of: host)
    }

    /// Takes the time of a stream, if that is virtual and the breaker has no clock yet.
    func setClockIfUnset(_ scheduler: any Scheduler) { clock.setIfUnset(scheduler) }

    /// Asks for the right to probe the host, if the next request needs it: one value when ``enter()`` can decide.
    func question() -> Observable<Void, NetworkError>? {
        guard let shared else { return nil }
        let now = clock.scheduler.now
        guard let number = circuit.withLock({ $0.ask(at: now) }) else { return nil }
        // Without the others, each process probes.
        return shared.mayProbe(host, for: openDuration).take(1).catch { _ in .just(true) }
            .ifEmpty(default: true)
            .map { [self] mayProbe in settle(number, mayProbe) }
            .handleEvents(onCancel: { [self] in settle(number, nil) })
    }

    private func settle(_ number: Int, _ mayProbe: Bool?) {
        let now = clock.scheduler.now
        change { $0.settle(number, mayProbe: mayProbe, at: now) }
    }

    /// Admits a request, or throws `circuitOpen`.
    func enter() throws(NetworkError) -> Circuit.Permit {
        let now = clock.scheduler.now
        let permit = change { $0.enter(at: now) }
        guard case .refused(let since, let until) = permit else { return permit }
        var error = NetworkError(
            .circuitOpen,
            "the circuit has been open for \(now - since); it probes the host in \(max(.zero, until - now))"
        )
        // Hence a failover may send any request to the other server, and an outbox knows that nothing has arrived.
        error.isUnsent = true
        // A stream that connects again (``Reconnecting``) waits until its end.
        error.openCircuit = since..<max(since, until)
        throw error
    }

    /// Records the end of the request; `nil` for an outcome that does not depend on the host.
    func leave(_ permit: Circuit.Permit, isFailure: Bool?) {
        let now = clock.scheduler.now
        let news = change { $0.leave(permit, isFailure: isFailure, at: now) }
        if let news, let shared { shared.report(news, of: host) }
    }

    /// Whether a request is a probe of a half-open circuit.
    func isProbe(_ permit: Circuit.Permit) -> Bool { circuit.withLock { $0.isProbe(permit) } }

    @discardableResult
    private func change<Result: Sendable>(_ change: (inout Circuit) -> Result) -> Result {
        let (result, isChanged) = circuit.withLock { circuit in
            let before = circuit.state
            return (change(&circuit), before != circuit.state)
        }
        // Reads the state again at each step, so that the last of several threads publishes the latest one.
        if isChanged { shownState.update { shown in shown = circuit.withLock { $0.state } } }
        return result
    }
}

extension CircuitBreaker {
    /// When a circuit opens, and for how long.
    public struct Policy: Sendable, Hashable {
        /// The share of failures that opens the circuit, from 0 to 1. Default 0.5.
        public var failureRatio: Double
        /// The minimum number of requests in the window. Default 20.
        public var minimumRequests: Int
        /// The length of the window, which slides in tenths. Default 10 s.
        public var window: Duration
        /// How long the circuit stays open before it is probed. Default 30 s.
        public var openDuration: Duration
        /// The number of requests admitted at a time as probes. All must succeed to close the circuit; one failure
        /// opens it again. Default 1.
        public var probes: Int
        /// The circuits of other processes that open and close with these. A process whose circuit may be probed then
        /// asks for the right to do so; its other requests, and those of the other processes, fail until the outcome is
        /// known. Default `nil`: each process has its own.
        private(set) var sharing: CircuitBreaker.Sharing?

        /// Creates a policy.
        public init(
            failureRatio: Double = 0.5, minimumRequests: Int = 20, window: Duration = .seconds(10),
            openDuration: Duration = .seconds(30), probes: Int = 1
        ) {
            self.failureRatio = failureRatio
            self.minimumRequests = minimumRequests
            self.window = window
            self.openDuration = openDuration
            self.probes = probes
        }

        /// The policy with circuits that several processes share.
        package func sharing(_ circuits: any SharedCircuits) -> Policy {
            var policy = self
            policy.sharing = Sharing(circuits: circuits)
            return policy
        }
    }
}

extension CircuitBreaker {
    /// The state of a circuit.
    public enum State: Sendable, Hashable {
        /// Requests pass, and their failures are counted.
        case closed
        /// Requests fail until the second time; both times are on the breaker's clock.
        case open(since: Duration, until: Duration)
        /// A few requests pass, to probe whether the circuit can close.
        case halfOpen
    }
}

// MARK: - The operator

extension Observable where Failure == NetworkError {
    /// Fails with `circuitOpen`, without starting the stream, while the breaker is open; otherwise the
    /// outcome of the stream counts.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea")).circuitBreaker(breaker)
    /// ```
    public func circuitBreaker(_ breaker: CircuitBreaker) -> Observable {
        if let scheduler { breaker.setClockIfUnset(scheduler) }
        return .deferred(on: scheduler) {
            guard let question = breaker.question() else { return guarded(by: breaker) }
            return question.flatMap(.concat) { _ in guarded(by: breaker) }
        }
    }

    /// The stage ``CircuitBreaking`` does the same for clients; change both.
    private func guarded(by breaker: CircuitBreaker) -> Observable {
        Observable(scheduler: scheduler) { observer in
            let permit: CircuitPermit
            do throws(NetworkError) { permit = try CircuitPermit(breaker) } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            let scope = observer.scope.child()
            scope.onClose { permit.abandon() }
            self.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        permit.record(transferEvent(in: value))
                        observer.next(value)
                    },
                    end: { completion in
                        permit.end(completion)
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }
}

/// One request that a breaker has admitted. Only its first outcome counts.
final class CircuitPermit: @unchecked Sendable {
    // Unchecked: runs only inside the lane of the request, which is serial.
    private let breaker: CircuitBreaker
    private let settlesWithHead: Bool
    /// Set by the stage ``CircuitBreaking`` only: for the operator, no cancellation counts as a failure.
    private var isSent = false
    private var permit: Circuit.Permit?

    /// - Parameter settlesWithHead: whether a response is a success as soon as it begins.
    /// - Throws: `circuitOpen`.
    init(_ breaker: CircuitBreaker, settlesWithHead: Bool = false) throws(NetworkError) {
        permit = try breaker.enter()
        self.breaker = breaker
        self.settlesWithHead = settlesWithHead
    }

    /// Records that the request begins to wait for the host.
    func didSend() { isSent = true }

    /// Records a success for a value. A transfer counts when it is complete; but a probe counts with its head, because
    /// its body may never end.
    func record(_ event: TransferEvent?) {
        switch event {
        case nil: leave(isFailure: false)
        case .head(let head):
            if let permit, settlesWithHead || breaker.isProbe(permit) {
                leave(isFailure: head.status.code >= 500)
            }
        default: break
        }
    }

    func end(_ completion: Completion<NetworkError>) {
        switch completion {
        case .finished: leave(isFailure: false)
        case .failed(let error): leave(isFailure: error.isHostFailure)
        }
    }

    /// A host that exceeds the time of the call has failed; a cancellation by the caller does not count.
    func abandon(isOverdue: Bool = false) { leave(isFailure: isSent && isOverdue ? true : nil) }

    private func leave(isFailure: Bool?) {
        guard let permit else { return }
        self.permit = nil
        breaker.leave(permit, isFailure: isFailure)
    }
}

extension NetworkError {
    /// Whether the failure is the host's; `nil` if the host had no chance to respond.
    fileprivate var isHostFailure: Bool? {
        code.recoveryOptions.contains(.circuitBreaker) ? true : status.map { $0.code >= 500 }
    }
}
