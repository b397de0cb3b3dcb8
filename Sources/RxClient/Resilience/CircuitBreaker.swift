import RxHTTP
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
/// client itself (an invalid request, a full queue) and a cancellation are not. Safe from any thread.
public final class CircuitBreaker: Sendable {
    private let clock: SharedClock
    private let circuit: Mutex<Circuit>

    private let shownState = MutableProperty(CircuitState.closed)

    /// The state of the circuit. It opens and closes with the outcomes of requests, and is half-open from the
    /// first probe on.
    public var state: Property<CircuitState> { Property(shownState) }

    /// Creates a closed breaker.
    ///
    /// - Parameters:
    ///   - policy: when the circuit opens and for how long.
    ///   - clock: the clock of the breaker. Default `nil`: the virtual clock of the first stream that it guards, or the
    ///     library's shared clock.
    public init(_ policy: Policy = Policy(), clock: (any Scheduler)? = nil) {
        self.clock = SharedClock(clock)
        circuit = Mutex(Circuit(policy))
    }

    /// Closes the circuit and resets the counts.
    public func reset() { change { $0.reset() } }

    /// Takes the time of a stream, if that is virtual and the breaker has no clock yet.
    func adopt(_ scheduler: any Scheduler) { clock.adopt(scheduler) }

    /// Admits a request, or throws `circuitOpen`.
    func enter() throws(NetworkError) -> Circuit.Passage {
        let now = clock.scheduler.now
        let passage = change { $0.enter(at: now) }
        guard case .refused(let since, let until) = passage else { return passage }
        var error = NetworkError(
            .circuitOpen,
            "the circuit has been open for \(now - since); it probes the host in \(max(.zero, until - now))"
        )
        error.isUnsent = true
        error.openCircuit = OpenCircuit(since: since, until: until)
        throw error
    }

    /// Records how the request ended; `nil` for an outcome that says nothing about the host.
    func leave(_ passage: Circuit.Passage, isFailure: Bool?) {
        let now = clock.scheduler.now
        change { $0.leave(passage, isFailure: isFailure, at: now) }
    }

    /// Whether a request is a probe of a half-open circuit.
    func isProbe(_ passage: Circuit.Passage) -> Bool { circuit.withLock { $0.isProbe(passage) } }

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
