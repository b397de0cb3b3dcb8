extension Observable {
    /// Starts the stream again on an error, up to `count` times. The error of the last attempt ends the
    /// stream.
    ///
    /// ```
    ///          --1#
    /// retry(2)
    ///          --1--1--1#
    /// ```
    @inlinable
    public func retry(_ count: Int) -> Observable {
        retry(RetryPolicy { _, history in history.count < count ? .zero : nil })
    }

    /// Asks `policy`, on an error, whether and when to start the stream again.
    ///
    /// ```
    ///                              --1#
    /// retry { after 3 ms, once }
    ///                              --1-----1#
    /// ```
    ///
    /// The failed attempt is closed before the next begins. Attempts that fail at once are retried in a loop,
    /// without growing the stack; on a scheduler, other work gets its turn after every 32. Cancelling cancels
    /// the wait.
    ///
    /// - Parameter scheduler: the clock of the waits. Default: the stream's scheduler, otherwise
    ///   ``ActorScheduler/shared``.
    @inlinable
    public func retry(_ policy: RetryPolicy<Failure>, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return Observable(scheduler: self.scheduler) { observer in
            RetryRun(self, policy, clock, into: observer).start()
        }
    }
}

/// The state of one retry.
@usableFromInline
final class RetryRun<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.

    /// The most attempts to begin in one turn of the scheduler, as the documentation of `retry` and Threading.md say.
    @inlinable static var turnLength: Int { 32 }

    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let policy: RetryPolicy<Failure>
    @usableFromInline let clock: any Scheduler
    @usableFromInline let observer: Observer<Element, Failure>
    /// The scope of the current attempt; before the first, that of the operator.
    @safe @exclusivity(unchecked) @usableFromInline var scope: Scope
    @safe @exclusivity(unchecked) @usableFromInline var history: RetryHistory
    @safe @exclusivity(unchecked) @usableFromInline var isStarting = false
    @safe @exclusivity(unchecked) @usableFromInline var isDue = false

    @inlinable
    init(
        _ stream: Observable<Element, Failure>, _ policy: RetryPolicy<Failure>, _ clock: any Scheduler,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.policy = policy
        self.clock = clock
        self.observer = observer
        scope = observer.scope
        history = RetryHistory(clock: clock)
    }

    /// Begins an attempt. If called from within one that just failed, the loop outside begins it.
    @inlinable
    func start() {
        isDue = true
        guard !isStarting else { return }
        isStarting = true
        var budget = StepBudget(in: observer.scope.lane, of: Self.turnLength)
        while isDue && observer.scope.isOpen {
            guard budget.step() else { return startInNextTurn() }
            isDue = false
            attempt()
        }
        isStarting = false
    }

    @inlinable
    func startInNextTurn() {
        observer.scope.inNextTurn {
            self.isStarting = false
            self.start()
        }
    }

    @inlinable
    func attempt() {
        scope = observer.scope.child()
        stream.subscribe(
            Observer(scope: scope, as: observer) { completion in
                self.scope.close()
                switch completion {
                case .finished: self.observer.finish()
                case .failed(let error): self.decide(error)
                }
            })
    }

    @inlinable
    func decide(_ error: Failure) {
        let verdict = policy.weigh(error, history)
        guard let delay = verdict.delay else {
            var error = error
            policy.stamp(&error, history)
            return observer.fail(error)
        }
        // After the decision, as in `RetryHistory.countRetry` and in RxClient's `Retrying`: rules are given the retries
        // before this one.
        history.count += 1
        history.lastDelay = delay
        guard delay > .zero else { return start() }
        let wait = observer.scope.child()
        let timer = clock.schedule(after: delay) {
            wait.enter {
                // Before the wait closes, which otherwise gives the credits back.
                self.isDue = true
                wait.close()
                self.start()
            }
        }
        wait.onClose {
            timer.cancel()
            if !self.isDue { verdict.giveBack() }
        }
    }
}

extension Observable {
    /// Starts the stream again after an error when another stream sends, which `notices` makes from the
    /// errors.
    ///
    /// ```
    ///                                  --1#
    /// retry(when: { _ in ----x---| })
    ///                                  --1------1-|     the notices begin with the first error
    /// ```
    ///
    /// ```swift
    /// load.retry(when: { errors in
    ///     errors.flatMap { error in reachability.filter { $0 }.take(1) }
    /// })
    /// ```
    ///
    /// Each notice after an error starts the stream again; the failed attempt is closed by then. A notice
    /// during an attempt changes nothing. The stream ends when an attempt finishes, or like the notifier,
    /// regardless of a running attempt and even if the notifier's end follows a notice immediately. `notices`
    /// is called with the first error of each subscription.
    @inlinable
    public func retry<Notice, E>(
        when notices: @escaping @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>
    ) -> Observable<Element, E> {
        Observable<Element, E>(scheduler: scheduler) { observer in
            NoticedRetrying(self, notices, into: observer).start()
        }
    }
}

/// The state of one retry with notices.
@usableFromInline
final class NoticedRetrying<Element: Sendable, Failure: Error, Notice: Sendable, E: Error>:
    @unchecked Sendable
{
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let stream: Observable<Element, Failure>
    private let notices: @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>
    private let observer: Observer<Element, E>
    /// The scope of the whole operator; closed with the end of the notices or of an attempt.
    private let scope: Scope
    /// Sending from inside the lane queues there, so errors that lead to each other do not nest.
    private var errors: Signal<Failure>?
    private var isWaiting = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>,
        _ notices: @escaping @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>,
        into observer: Observer<Element, E>
    ) {
        self.stream = stream
        self.notices = notices
        self.observer = observer
        scope = observer.scope.child()
    }

    /// Begins an attempt.
    @usableFromInline
    func start() {
        let attemptScope = scope.child()
        stream.subscribe(
            Observer(scope: attemptScope, as: observer) { completion in
                attemptScope.close()
                switch completion {
                case .finished: self.end(.finished)
                case .failed(let error): self.receive(error)
                }
            })
    }

    private func receive(_ error: Failure) {
        isWaiting = true
        if let errors { return errors.send(error) }
        let errors = Signal<Failure>()
        self.errors = errors
        notices(errors.observable).subscribe(
            Observer(scope: scope.child(), next: { _ in self.receiveNotice() }, end: { self.end($0) }))
        errors.send(error)
    }

    /// Queues the attempt, so that an end that follows the notice immediately comes first.
    private func receiveNotice() {
        guard isWaiting else { return }
        isWaiting = false
        scope.lane.enqueue { if self.scope.isOpen { self.start() } }
    }

    private func end(_ completion: Completion<E>) {
        scope.close()
        observer.end(completion)
    }
}

// MARK: - Policies

/// The rule that decides, after an error, whether and when to try again.
public struct RetryPolicy<Failure: Error>: Sendable {
    /// A decision, and the credits that were taken for it.
    @usableFromInline
    package struct Verdict: Sendable {
        /// The wait before the next attempt; `nil` if there is none.
        @usableFromInline package let delay: Duration?
        package let credits: [RetryCredit]

        package init(_ delay: Duration?, paidWith credits: [RetryCredit] = []) {
            self.delay = delay
            self.credits = credits
        }

        /// Gives the credits back, because the retry does not take place.
        @usableFromInline
        package func giveBack() {
            for credit in credits { credit.giveBack() }
        }
    }

    /// The wait before another attempt after `error`, given the attempts so far; `nil` if the stream fails with the
    /// error. With a retry budget, each call spends a retry.
    public var delay: @Sendable (_ error: Failure, _ history: RetryHistory) -> Duration? {
        { [weigh] error, history in weigh(error, history).delay }
    }

    /// Adds to the final error what the history says about it, such as the number of attempts.
    public let stamp: @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void

    /// The decision with its credits.
    @usableFromInline package let weigh: @Sendable (_ error: Failure, _ history: RetryHistory) -> Verdict

    /// Creates a policy from a rule.
    ///
    /// - Parameters:
    ///   - delay: returns the wait before another attempt; `nil` if the stream is to fail with the error.
    ///   - stamp: adds to the final error what the history says about it. Default: nothing.
    public init(
        _ delay: @escaping @Sendable (_ error: Failure, _ history: RetryHistory) -> Duration?,
        stamp: @escaping @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void = { _, _ in }
    ) {
        self.init(weighing: { Verdict(delay($0, $1)) }, stamp: stamp)
    }

    package init(
        weighing weigh: @escaping @Sendable (_ error: Failure, _ history: RetryHistory) -> Verdict,
        stamp: @escaping @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void
    ) {
        self.weigh = weigh
        self.stamp = stamp
    }
}

/// The permission of a budget for one retry.
package struct RetryCredit: Sendable {
    /// The account that has given it.
    package let account: ObjectIdentifier
    /// Returns it to the account. To be called at most once, and only if the retry does not take place.
    package let giveBack: @Sendable () -> Void

    package init(of account: ObjectIdentifier, giveBack: @escaping @Sendable () -> Void) {
        self.account = account
        self.giveBack = giveBack
    }
}

/// The history of a retry in one subscription.
public struct RetryHistory: Sendable {
    /// The number of attempts after the first.
    public var count: Int
    /// The wait before the last of these attempts; zero before the first retry.
    public var lastDelay: Duration
    /// The clock of the waits.
    public var clock: any Scheduler

    /// Creates a history.
    public init(
        count: Int = 0, lastDelay: Duration = .zero, clock: any Scheduler = ActorScheduler.shared
    ) {
        self.count = count
        self.lastDelay = lastDelay
        self.clock = clock
    }

    /// Counts one more retry. Returns the wait before it.
    ///
    /// - Parameters:
    ///   - backoff: the rule for the wait.
    ///   - least: the shortest wait that the server asks for. Default: zero.
    package mutating func countRetry(
        by backoff: Backoff, _ random: () -> Double, atLeast least: Duration = .zero
    ) -> Duration {
        lastDelay = max(backoff.delay(self, random), least)
        count += 1
        return lastDelay
    }
}
