internal import RxHTTP

/// The state machine of one transfer's time limits: it takes the state of the transfer at each check, and
/// returns when to check again or which limit has passed.
///
/// Nothing is recorded while bytes move. A check compares the progress of the transfer with that at the check
/// before; without progress, the transfer has stood still for at least that time. So a passed limit is
/// detected up to one interval late, never early, and a transfer that ends before the first check costs
/// nothing.
struct TransferClock {
    /// The phases of a transfer.
    enum Phase: Equatable {
        case connecting, sending, waiting, receiving
    }

    /// The result of a check.
    enum Finding: Equatable {
        /// No limit has passed; check again at this time.
        case wait(until: UInt64)
        /// No limit has passed, and no further check is needed.
        case unlimited
        /// The limit with this code has passed.
        case passed(NetworkError.Code)
    }

    private let limits: Timeouts.Limits
    private var start: UInt64 = 0
    /// The first check since which there was no progress.
    private var mark: UInt64 = 0
    private var phase = Phase.connecting
    private var progress = 0

    init(_ timeouts: Timeouts) { limits = timeouts.limits }

    /// Notes that the attempt begins at `now`; returns the time of the first check.
    mutating func begin(at now: UInt64) -> UInt64? {
        start = now
        mark = now
        return next(after: now)
    }

    /// Compares with the previous check.
    ///
    /// - Parameters:
    ///   - progress: any number that grows when bytes move in either direction.
    ///   - isWaived: whether the transfer stands still because the client or its consumer wants it to.
    mutating func look(at now: UInt64, phase: Phase, progress: Int, isWaived: Bool) -> Finding {
        if phase != self.phase || progress != self.progress || isWaived {
            self.phase = phase
            self.progress = progress
            // The time to connect counts from the beginning.
            if phase != .connecting { mark = now }
        }
        if now >= start + limits.attempt.nanoseconds { return .passed(.attemptTimeout) }
        if now >= mark + phaseLimit.nanoseconds { return .passed(code) }
        return next(after: now).map { .wait(until: $0) } ?? .unlimited
    }

    /// Checks only the limit of the whole attempt.
    func lookAtAttempt(at now: UInt64) -> Finding {
        if limits.attempt.isNone { return .unlimited }
        let end = start + limits.attempt.nanoseconds
        return now >= end ? .passed(.attemptTimeout) : .wait(until: end)
    }

    /// Notes an event at `now` that restarts the time of the phase.
    mutating func restart(at now: UInt64) {
        if phase != .connecting { mark = max(mark, now) }
    }

    /// How long a transfer may take to connect before one of its limits has passed, in nanoseconds.
    var connectingLimit: UInt64 { min(limits.attempt.nanoseconds, limits.connect.nanoseconds) }

    /// The limit that has passed for a transfer that has been connecting for `time` nanoseconds.
    func limit(passedConnectingFor time: UInt64) -> NetworkError.Code? {
        if time >= limits.attempt.nanoseconds { return .attemptTimeout }
        return time >= limits.connect.nanoseconds ? .connectTimeout : nil
    }

    private var phaseLimit: Timeouts.Limit {
        switch phase {
        case .connecting: limits.connect
        case .waiting: limits.firstByte
        case .sending, .receiving: limits.idle
        }
    }

    private var code: NetworkError.Code {
        switch phase {
        case .connecting: .connectTimeout
        case .waiting: .firstByteTimeout
        case .sending, .receiving: .idleTimeout
        }
    }

    private func next(after now: UInt64) -> UInt64? {
        let interval = max(min(limits.firstByte.nanoseconds, limits.idle.nanoseconds) / 8, 1_000_000)
        let next = min(
            start + limits.attempt.nanoseconds, mark + phaseLimit.nanoseconds, now + interval)
        return next >= now + Timeouts.Limit.none.nanoseconds / 8 ? nil : next
    }
}
