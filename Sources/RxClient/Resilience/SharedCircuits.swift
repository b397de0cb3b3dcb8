public import RxHTTP
public import RxLite

/// Circuits that several processes share: a host that fails for one of them is spared by all, and one of them probes it.
/// RxFleet has them over a store; an app can bring others.
///
/// Each process counts the failures of its own requests. See ``CircuitBreaker/Policy/sharing``. Thread-safe.
public protocol SharedCircuits: AnyObject, Sendable {
    /// Tells the other processes that the circuit of a host has opened or closed in this one. Returns at once.
    func report(_ change: CircuitBreaker.Change, of host: String)

    /// The changes of a host's circuit by other processes. Never finishes; also tells of one that was opened before.
    func changes(of host: String) -> Observable<CircuitBreaker.Change, Never>

    /// Asks whether this process may probe a host. One value, then completion.
    ///
    /// `true` for one process of those that ask, until it reports a change or the time is over. A failure means that the
    /// others cannot be asked: this process then probes the host by itself.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - time: how long the others leave the probe to this process.
    func mayProbe(_ host: String, for time: Duration) -> Observable<Bool, NetworkError>
}

extension CircuitBreaker {
    /// A change of a circuit.
    public enum Change: Sendable, Hashable {
        /// The circuit has opened, for a time from now.
        case opened(for: Duration)
        /// The circuit has closed.
        case closed
    }

    /// How a ``Policy`` shares its circuits with other processes.
    public struct Sharing: Sendable {
        /// The circuits.
        public var circuits: any SharedCircuits

        /// Shares circuits.
        public init(_ circuits: any SharedCircuits) { self.circuits = circuits }
    }
}

extension CircuitBreaker.Sharing: Hashable {
    /// Whether both use the same circuits.
    public static func == (one: CircuitBreaker.Sharing, other: CircuitBreaker.Sharing) -> Bool {
        one.circuits === other.circuits
    }

    /// Hashes the identity of the circuits.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(circuits)) }
}
