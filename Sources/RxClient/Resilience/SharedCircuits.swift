package import RxHTTP
package import RxLite

/// Circuits that several processes share: a host that fails for one of them is spared by all, and one of them probes
/// it. RxFleet has them over a store.
///
/// Each process counts the failures of its own requests. Thread-safe.
package protocol SharedCircuits: AnyObject, Sendable {
    /// Tells the other processes that the circuit of a host has opened or closed in this one. Returns at once.
    func report(_ change: CircuitBreaker.Change, of host: String)

    /// The changes of a host's circuit by other processes. Never finishes; also tells of one that was opened before.
    func changes(of host: String) -> Observable<CircuitBreaker.Change, Never>

    /// Asks whether this process may probe a host. One value, then completion.
    ///
    /// `true` for one process of those that ask, until it reports a change or the time is over. A failure means that
    /// the others cannot be asked: this process then probes the host by itself.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - time: how long the others leave the probe to this process.
    func mayProbe(_ host: String, for time: Duration) -> Observable<Bool, NetworkError>
}

extension CircuitBreaker {
    /// A change of a circuit.
    package enum Change: Sendable, Hashable {
        /// The circuit has opened, for a time from now.
        case opened(for: Duration)
        /// The circuit has closed.
        case closed
    }

    /// The circuits that a ``Policy`` shares with other processes.
    struct Sharing: Sendable {
        let circuits: any SharedCircuits
    }
}

extension CircuitBreaker.Sharing: Hashable {
    static func == (one: CircuitBreaker.Sharing, other: CircuitBreaker.Sharing) -> Bool {
        one.circuits === other.circuits
    }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(circuits)) }
}
