/// Which server is active, and who is looking whether the main one is back: a pure state machine.
struct FailoverState: Sendable {
    /// One attempt on its way.
    struct Visit: Sendable, Equatable {
        /// Where it goes first.
        let role: ServerRole
        let isProbe: Bool
        fileprivate let epoch: Int
    }

    /// How it ended.
    enum Outcome: Sendable {
        /// The first server responded, or nothing says that it could not have.
        case responded
        /// The first server did not, and the other did.
        case otherResponded
        /// Neither did, or the first did not and the other was not asked.
        case noResponse
        /// Nobody waited for a response, or it broke off in the middle.
        case unknown
    }

    private let failover: Failover
    private(set) var active = ServerRole.main
    /// Counts the changes: who began before the last one knows nothing about what is now.
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

    /// Makes `role` the active one, whatever is under way.
    mutating func use(_ role: ServerRole, at now: Duration) {
        active = role
        epoch += 1
        isProbing = false
        nextProbe = now + failover.probeInterval
    }
}
