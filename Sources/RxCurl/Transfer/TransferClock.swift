internal import RxHTTP

/// The limits of one transfer, as rules only: what there is to see goes in from time to time, and out comes when
/// to look again, or which limit has passed.
///
/// Nothing is noted while bytes move. A look compares how far the transfer has come with the look before; what
/// has not moved since then has stood still for at least as long. So a limit is found out up to one interval late,
/// never early, and a transfer that is over before the first look pays for nothing.
struct TransferClock {
    /// What the transfer is waiting for.
    enum Phase: Equatable {
        case connecting, sending, waiting, receiving
    }

    /// What a look found.
    enum Finding: Equatable {
        /// All is well; look again at that time.
        case wait(until: UInt64)
        /// All is well, and there is no limit to come.
        case unlimited
        /// The limit with this code has passed.
        case passed(NetworkError.Code)
    }

    private let limits: Timeouts.Limits
    private var start: UInt64 = 0
    /// The first look since which nothing has changed.
    private var mark: UInt64 = 0
    private var phase = Phase.connecting
    private var progress = 0

    init(_ timeouts: Timeouts) { limits = timeouts.limits }

    /// The attempt begins at `now`; gives the time of the first look.
    mutating func begin(at now: UInt64) -> UInt64? {
        start = now
        mark = now
        return next(after: now)
    }

    /// Compares with the look before.
    ///
    /// - Parameters:
    ///   - progress: any number that grows as bytes move in either direction.
    ///   - isWaived: whether the transfer stands still because its own side wants it to.
    mutating func look(at now: UInt64, phase: Phase, progress: Int, isWaived: Bool) -> Finding {
        if phase != self.phase || progress != self.progress || isWaived {
            self.phase = phase
            self.progress = progress
            // The connection is waited for since the beginning.
            if phase != .connecting { mark = now }
        }
        if now >= start + limits.attempt.nanoseconds { return .passed(.attemptTimeout) }
        if now >= mark + phaseLimit.nanoseconds { return .passed(code) }
        return next(after: now).map { .wait(until: $0) } ?? .unlimited
    }

    /// Something happened at `now` that starts the time of the phase anew.
    mutating func restart(at now: UInt64) {
        if phase != .connecting { mark = max(mark, now) }
    }

    /// How long a transfer may be about to connect before one of its limits has passed, in nanoseconds.
    var connectingLimit: UInt64 { min(limits.attempt.nanoseconds, limits.connect.nanoseconds) }

    /// The limit that has passed for one that has been about to connect for so long, in nanoseconds.
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
