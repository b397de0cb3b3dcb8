extension Observable {
    /// Starts the stream again each time it has finished.
    ///
    /// ```
    ///                                --1-2|
    /// repeat(2, delay: .seconds(3))
    ///                                --1-2-----1-2|
    /// ```
    ///
    /// The finished run is closed before the next begins. Runs that finish at once are repeated in a loop,
    /// without growing the stack; on a scheduler, other work gets its turn after every 32. While the
    /// subscriber is paused no further run begins.
    ///
    /// - Parameters:
    ///   - count: the total number of runs; with zero or less the stream is not started. Default: no limit.
    ///   - delay: the wait before each run except the first. Default: none.
    ///   - scheduler: the clock of the waits. Default: the stream's scheduler, otherwise
    ///     ``ActorScheduler/shared``.
    @inlinable
    public func `repeat`(
        _ count: Int = .max, delay: Duration = .zero, on scheduler: (any Scheduler)? = nil
    ) -> Observable {
        guard count > 0 else { return .empty() }
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return Observable(scheduler: self.scheduler) { observer in
            Repeating(self, count, delay, clock, into: observer).start()
        }
    }
}

/// The state of one repeat.
@usableFromInline
final class Repeating<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// The most runs to begin in one turn of the scheduler, as the documentation of `repeat` and Threading.md say.
    private static var turnLength: Int { 32 }

    private let stream: Observable<Element, Failure>
    private let delay: Duration
    private let clock: any Scheduler
    private let observer: Observer<Element, Failure>
    /// The number of runs still to begin; `Int.max` means no limit.
    private var remaining: Int
    private var isStarting = false
    private var isDue = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>, _ count: Int, _ delay: Duration, _ clock: any Scheduler,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.delay = delay
        self.clock = clock
        self.observer = observer
        remaining = count
    }

    /// Begins the first run, even if paused, because the source may be able to wait itself.
    @usableFromInline
    func start() {
        observer.scope.onResume { self.proceed() }
        isStarting = true
        run()
        isStarting = false
        proceed()
    }

    /// Begins due runs in a loop, not from within each other's end.
    private func proceed() {
        guard !isStarting else { return }
        isStarting = true
        var budget = StepBudget(in: observer.scope.lane, of: Self.turnLength)
        while isDue && observer.scope.isOpen && !observer.scope.isPaused {
            guard budget.step() else { return proceedInNextTurn() }
            isDue = false
            run()
        }
        isStarting = false
    }

    private func proceedInNextTurn() {
        observer.scope.inNextTurn {
            self.isStarting = false
            self.proceed()
        }
    }

    private func run() {
        if remaining != .max { remaining -= 1 }
        let scope = observer.scope.child()
        stream.subscribe(
            Observer(scope: scope, as: observer) { completion in
                scope.close()
                guard case .finished = completion, self.remaining > 0 else {
                    return self.observer.end(completion)
                }
                self.wait()
            })
    }

    private func wait() {
        guard delay > .zero else { return becomeDue() }
        let wait = observer.scope.child()
        let timer = clock.schedule(after: delay) {
            wait.enter {
                wait.close()
                self.becomeDue()
            }
        }
        wait.onClose { timer.cancel() }
    }

    private func becomeDue() {
        isDue = true
        proceed()
    }
}

extension Observable {
    /// Starts the finished stream again when another stream sends, which `notices` makes from the numbers of
    /// finished runs.
    ///
    /// ```
    ///                                   --1|
    /// repeat(when: { _ in ----x---| })
    ///                                   --1------1-|    the notices begin with the first end
    /// ```
    ///
    /// ```swift
    /// status.repeat(when: { runs in runs.flatMap { _ in foreground.take(1) } })
    /// ```
    ///
    /// Each notice after an end starts the stream again. The finished run is closed by then, and while the
    /// subscriber is paused no further run begins. A notice during a run changes nothing. When the notices
    /// have ended, the current run is the last. An error of either stream ends the result.
    ///
    /// - Parameter notices: called at the first end of each subscription, with a stream of the number of
    ///   finished runs: 1, 2, …
    @inlinable
    public func `repeat`<Notice>(
        when notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            NoticedRepeating(self, notices, into: observer).start()
        }
    }

    /// Starts the finished stream again when a stream that cannot fail sends.
    @inlinable
    @_disfavoredOverload
    public func `repeat`<Notice>(
        when notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Never>
    ) -> Observable {
        self.repeat(when: { notices($0).setFailureType(to: Failure.self) })
    }
}

/// The state of one repeat with notices.
@usableFromInline
final class NoticedRepeating<Element: Sendable, Failure: Error, Notice: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    private enum Phase {
        case running
        /// Waiting for a notice.
        case waiting
        /// A notice has arrived, and the next run is about to begin.
        case due
    }

    private let stream: Observable<Element, Failure>
    private let notices: @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>
    private let observer: Observer<Element, Failure>
    /// The scope of the whole operator.
    private let scope: Scope
    /// Sending from inside the lane queues there, so runs that finish at once do not nest.
    private var finishedRuns: Signal<Int>?
    private var count = 0
    private var phase = Phase.running
    private var haveNoticesEnded = false
    private var isStarting = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>,
        _ notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.notices = notices
        self.observer = observer
        scope = observer.scope.child()
    }

    /// Begins the first run, even if paused, because the source may be able to wait itself.
    @usableFromInline
    func start() {
        scope.onResume { self.proceed() }
        isStarting = true
        run()
        isStarting = false
        proceed()
    }

    /// Begins the due run in a loop, not from within the end of the previous one.
    private func proceed() {
        guard !isStarting else { return }
        isStarting = true
        while phase == .due && scope.isOpen && !scope.isPaused { run() }
        isStarting = false
    }

    private func run() {
        phase = .running
        let runScope = scope.child()
        stream.subscribe(
            Observer(scope: runScope, as: observer) { completion in
                runScope.close()
                guard case .finished = completion, !self.haveNoticesEnded else { return self.end(completion) }
                self.awaitNotice()
            })
    }

    private func awaitNotice() {
        phase = .waiting
        count += 1
        if let finishedRuns { return finishedRuns.send(count) }
        let finishedRuns = Signal<Int>()
        self.finishedRuns = finishedRuns
        let noticeScope = scope.child()
        notices(finishedRuns.observable).subscribe(
            Observer(
                scope: noticeScope, next: { _ in self.receiveNotice() },
                end: { completion in
                    noticeScope.close()
                    self.receiveEndOfNotices(completion)
                }))
        finishedRuns.send(count)
    }

    private func receiveNotice() {
        guard phase == .waiting else { return }
        phase = .due
        proceed()
    }

    private func receiveEndOfNotices(_ completion: Completion<Failure>) {
        haveNoticesEnded = true
        if case .finished = completion, phase != .waiting { return }
        end(completion)
    }

    private func end(_ completion: Completion<Failure>) {
        scope.close()
        observer.end(completion)
    }
}
