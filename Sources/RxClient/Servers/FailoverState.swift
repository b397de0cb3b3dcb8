/// The active server, and the probes of the main one: a pure state machine.
struct FailoverState: Sendable {
    /// One attempt in progress.
    struct Visit: Sendable, Equatable {
        /// The server that the attempt goes to first.
        let role: ServerRole
        let isProbe: Bool
        fileprivate let epoch: Int
    }

    /// The outcome of an attempt.
    enum Outcome: Sendable {
        /// The first server responded, or nothing shows that it could not.
        case responded
        /// The first server did not respond, and the other one did.
        case otherResponded
        /// Neither server responded, or the first did not and the other was not asked.
        case noResponse
        /// The attempt was cancelled, or the response broke off.
        case unknown
    }

    private let failover: Failover
    private(set) var active = ServerRole.main
    /// The number of changes: an attempt that began before the latest change does not affect the state.
    private var epoch = 0
    private var nextProbe = Duration.zero
    private var isProbing = false

    init(_ failover: Failover) { self.failover = failover }

    mutating func begin(mayProbe: Bool, at now: Duration) -> Visit {
        guard active == .standby, mayProbe, !isProbing, now >= nextProbe else {
            return Visit(role: active, isProbe: false, epoch: epoch)
        }
        isProbing = true
        return Visit(role: .main, isProbe: true, epoch: epoch)
    }

    mutating func end(_ visit: Visit, _ outcome: Outcome, at now: Duration) {
        guard visit.epoch == epoch else { return }
        guard visit.isProbe else {
            if case .otherResponded = outcome { use(visit.role.other, at: now) }
            return
        }
        isProbing = false
        switch outcome {
        case .responded: use(.main, at: now)
        case .otherResponded, .noResponse: nextProbe = now + failover.probeInterval
        case .unknown: break
        }
    }

    /// Makes `role` the active server, regardless of attempts in progress.
    mutating func use(_ role: ServerRole, at now: Duration) {
        active = role
        epoch += 1
        isProbing = false
        nextProbe = now + failover.probeInterval
    }
}
