import RxHTTP
import RxLite
import RxLoop

extension Transfer {
    /// Begins the attempt: its limits count from now.
    func start() {
        if isStreamed { timing.restart(at: multi.loop.now) }
        let start = multi.loop.nanoseconds - queueState.heldTime
        if let time = timing.clock.begin(at: start) { handle?.limits?.start(at: time) }
    }

    /// Begins to connect after the wait for the content, whose time the limit does not include.
    func startConnecting() {
        let start = multi.loop.nanoseconds - queueState.heldTime
        if let time = timing.clock.connect(at: start) { handle?.limits?.start(at: time) }
    }

    /// Checks whether a limit has passed.
    func checkLimits() -> TransferClock.CheckResult {
        // The other protocol may be silent for as long as it likes.
        if upgrade?.isOpen == true { return timing.clock.checkAttempt(at: multi.loop.nanoseconds) }
        let phase: TransferClock.Phase =
            if content.source?.isAwaited == true {
                .sending
            } else if !state.isSent {
                .connecting
            } else if !state.awaitsStatusLine {
                .receiving
            } else {
                isContentSent ? .waiting : .sending
            }
        // Any byte is progress, also of an informational response: see TimeLimits.md of RxNetworking.
        let moved =
            state.headBytes + (handle?.receivedBytes ?? 0) + (handle?.sentBytes ?? 0)
            + (upgrade?.receivedBytes ?? 0)
        return timing.clock.check(
            at: multi.loop.nanoseconds, phase: phase, progress: moved, isWaived: isWaiting)
    }

    /// Whether nothing moves because of this side: the consumer has paused, or the content is not ready.
    private var isWaiting: Bool {
        observer.scope.isPaused || content.source.map { $0.isStarved || $0.isAwaited } ?? false
    }
}

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
    enum CheckResult: Equatable {
        /// No limit has passed; check again at this time.
        case wait(until: UInt64)
        /// No limit has passed, and no further check is needed.
        case unlimited
        /// The limit with this code has passed.
        case passed(NetworkError.Code)
    }

    private let limits: Timeouts.Limits
    private var start: UInt64 = 0
    /// When progress was last seen; the limit of the phase counts from here. While connecting it stays at the start of
    /// the phase.
    private var lastProgress: UInt64 = 0
    private var phase = Phase.connecting
    private var progress = 0

    init(_ timeouts: Timeouts) { limits = timeouts.limits }

    /// Records that the attempt begins at `now`; returns the time of the first check.
    mutating func begin(at now: UInt64) -> UInt64? {
        start = now
        progress = 0
        return connect(at: now)
    }

    /// Records that connecting begins at `now`; returns the time of the next check.
    mutating func connect(at now: UInt64) -> UInt64? {
        lastProgress = now
        phase = .connecting
        return next(after: now)
    }

    /// Compares with the previous check.
    ///
    /// - Parameters:
    ///   - progress: any number that grows when bytes move in either direction.
    ///   - isWaived: whether the transfer stands still because the client or its consumer wants it to.
    mutating func check(at now: UInt64, phase: Phase, progress: Int, isWaived: Bool) -> CheckResult {
        if phase != self.phase || progress != self.progress || isWaived {
            self.phase = phase
            self.progress = progress
            // The time to connect counts from the start of the phase.
            if phase != .connecting { lastProgress = now }
        }
        // No sum overflows: ``Timeouts/Limit/none`` is half of the range.
        if now >= start + limits.attempt.nanoseconds { return .passed(.attemptTimeout) }
        if now >= lastProgress + phaseLimit.nanoseconds { return .passed(code) }
        return next(after: now).map { .wait(until: $0) } ?? .unlimited
    }

    /// Checks only the limit of the whole attempt.
    func checkAttempt(at now: UInt64) -> CheckResult {
        if limits.attempt.isNone { return .unlimited }
        let end = start + limits.attempt.nanoseconds
        return now >= end ? .passed(.attemptTimeout) : .wait(until: end)
    }

    /// Records an event at `now` that restarts the time of the phase.
    mutating func restart(at now: UInt64) {
        if phase != .connecting { lastProgress = max(lastProgress, now) }
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
        // The documentation of ``Timeouts`` says that these limits may expire an eighth late.
        let interval = max(min(limits.firstByte.nanoseconds, limits.idle.nanoseconds) / 8, 1_000_000)
        let next = min(
            start + limits.attempt.nanoseconds, lastProgress + phaseLimit.nanoseconds, now + interval)
        return next >= now + Timeouts.Limit.none.nanoseconds / 8 ? nil : next
    }
}

/// The times of a transfer's events, and the clock of its limits.
struct TransferTiming {
    var clock: TransferClock
    /// For a streamed body: when reading it began, when all of it had been sent, and when its response began.
    /// For these, curl's time of the first byte is the time of the first byte sent.
    var startedAt: Duration?
    var sentAt: Duration?
    var respondedAt: Duration?

    init(_ timeouts: Timeouts) { clock = TransferClock(timeouts) }

    /// Records that reading begins, and forgets the times of an attempt before.
    mutating func restart(at now: Duration) {
        (startedAt, sentAt, respondedAt) = (now, nil, nil)
    }

    /// Replaces curl's times by those of a streamed body.
    func correct(_ metrics: inout TransferMetrics) {
        guard let startedAt else { return }
        if let respondedAt { metrics.firstByte = respondedAt - startedAt }
        if let sentAt { metrics.sent = min(sentAt - startedAt, metrics.firstByte) }
    }
}
