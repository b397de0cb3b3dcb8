/// The rules of a circuit breaker, as a pure state machine.
struct Circuit: Sendable {
    /// The decision about a request.
    enum Permit: Sendable, Equatable {
        case granted(epoch: Int)
        case refused(since: Duration, until: Duration)
    }

    private let policy: CircuitBreaker.Policy
    private(set) var state = CircuitBreaker.State.closed
    /// The number of state changes: a request that began in an earlier state does not count.
    private var epoch = 0
    /// The counts of requests and of failures.
    private var counts: SlidingCounts
    /// The time at which the circuit left the closed state.
    private var openSince = Duration.zero
    /// The probes under way, and those that have succeeded: together at most the policy's number, see
    /// ``enter(at:)``.
    private var probing = 0
    private var succeeded = 0
    /// Whether the right to probe is shared with other processes.
    private let isShared: Bool
    /// The number of the question for that right that is under way.
    private var question: Int?
    private var questions = 0

    /// How long after a refusal of the right to probe it is asked for again.
    static let questionInterval = Duration.seconds(1)

    init(_ policy: CircuitBreaker.Policy) {
        self.policy = policy
        isShared = policy.sharing != nil
        counts = SlidingCounts(window: policy.window)
    }

    /// A circuit that is shared becomes half-open by ``settle(_:mayProbe:at:)`` only, so ``ask(at:)`` comes
    /// first.
    mutating func enter(at now: Duration) -> Permit {
        if isDue(at: now), !isShared { go(to: .halfOpen) }
        switch state {
        case .closed: break
        case .open(let since, let until): return .refused(since: since, until: max(now, until))
        case .halfOpen:
            guard probing + succeeded < max(1, policy.probes) else {
                return .refused(since: openSince, until: now)
            }
            probing += 1
        }
        return .granted(epoch: epoch)
    }

    private func isDue(at now: Duration) -> Bool {
        if case .open(_, let until) = state { now >= until } else { false }
    }

    /// Begins to ask for the right to probe, if a request needs it; the answer follows with ``settle(_:mayProbe:at:)``.
    mutating func ask(at now: Duration) -> Int? {
        guard isShared, isDue(at: now), question == nil else { return nil }
        questions += 1
        question = questions
        return questions
    }

    /// A question has been answered; `nil` if it has been given up.
    mutating func settle(_ number: Int, mayProbe: Bool?, at now: Duration) {
        guard question == number else { return }
        question = nil
        guard let mayProbe, isDue(at: now) else { return }
        if mayProbe {
            go(to: .halfOpen)
        } else {
            state = .open(since: openSince, until: now + min(Self.questionInterval, policy.openDuration))
        }
    }

    /// The circuit has changed in another process.
    mutating func follow(_ change: CircuitBreaker.Change, at now: Duration) {
        switch (change, state) {
        case (.closed, .closed): break
        case (.closed, _): go(to: .closed)
        case (.opened(let time), .open(let since, let until)):
            state = .open(since: since, until: max(until, now + time))
        case (.opened(let time), _):
            openSince = now
            go(to: .open(since: now, until: now + time))
        }
    }

    func isProbe(_ permit: Permit) -> Bool {
        state == .halfOpen && permit == .granted(epoch: epoch)
    }

    /// Counts the outcome of a request. Returns the change that it makes.
    mutating func leave(_ permit: Permit, isFailure: Bool?, at now: Duration) -> CircuitBreaker.Change? {
        guard permit == .granted(epoch: epoch) else { return nil }
        switch state {
        case .open: break
        case .closed:
            guard let isFailure else { return nil }
            counts.add(requests: 1, events: isFailure ? 1 : 0, at: now)
            let (requests, failures) = (counts.requests, counts.events)
            guard isFailure, requests >= policy.minimumRequests,
                Double(failures) >= policy.failureRatio * Double(requests)
            else { return nil }
            openSince = now
            go(to: .open(since: now, until: now + policy.openDuration))
            return .opened(for: policy.openDuration)
        case .halfOpen:
            probing -= 1
            switch isFailure {
            case true?:
                go(to: .open(since: openSince, until: now + policy.openDuration))
                return .opened(for: policy.openDuration)
            case false?:
                succeeded += 1
                guard succeeded >= max(1, policy.probes) else { return nil }
                go(to: .closed)
                return .closed
            case nil: break
            }
        }
        return nil
    }

    mutating func reset() { go(to: .closed) }

    private mutating func go(to state: CircuitBreaker.State) {
        self.state = state
        epoch += 1
        probing = 0
        succeeded = 0
        counts.clear()
    }
}

// MARK: - Counting

/// Two counters over a sliding window, in steps of a tenth of its length: requests, and the events limited against
/// them, which are failures in ``Circuit`` and retries in ``RetryBudget``.
struct SlidingCounts: Sendable {
    /// The documentation of the windows of both says that they slide in tenths.
    private static let slots = 10

    private var counts = [(requests: Int, events: Int)](repeating: (0, 0), count: slots)
    /// The sums of all slots as of the last change: a reader that adds nothing calls ``slide(to:)`` first.
    private(set) var requests = 0
    private(set) var events = 0
    /// The number of the slot written last, counted from time zero.
    private var latest: UInt64 = 0
    /// The length of a slot in nanoseconds.
    private let length: UInt64

    init(window: Duration) {
        length = max(1, Self.nanoseconds(window) / UInt64(Self.slots))
    }

    /// - Returns: the number of the slot that counts them.
    @discardableResult
    mutating func add(requests: Int = 0, events: Int = 0, at now: Duration) -> UInt64 {
        slide(to: now)
        let slot = Int(latest % UInt64(Self.slots))
        counts[slot].requests += requests
        counts[slot].events += events
        self.requests += requests
        self.events += events
        return latest
    }

    /// Subtracts from a slot what was added to it, unless its time is over.
    mutating func remove(events: Int, from number: UInt64, at now: Duration) {
        slide(to: now)
        guard latest - number < UInt64(Self.slots) else { return }
        counts[Int(number % UInt64(Self.slots))].events -= events
        self.events -= events
    }

    /// Drops outdated counts. A time before the latest one counts as the latest.
    mutating func slide(to now: Duration) {
        let number = Self.nanoseconds(now) / length
        guard number > latest else { return }
        for passed in 0..<min(number - latest, UInt64(Self.slots)) {
            let slot = Int((number - passed) % UInt64(Self.slots))
            requests -= counts[slot].requests
            events -= counts[slot].events
            counts[slot] = (0, 0)
        }
        latest = number
    }

    mutating func clear() {
        counts = Array(repeating: (0, 0), count: Self.slots)
        (requests, events) = (0, 0)
    }

    /// The nanoseconds of a duration, from 0 to 292 years.
    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        guard duration > .zero else { return 0 }
        guard duration < .nanoseconds(Int64.max) else { return UInt64(Int64.max) }
        let (seconds, attoseconds) = duration.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
