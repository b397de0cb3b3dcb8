public import Synchronization

extension Observable {
    /// Delivers the events on `scheduler`: everything below, including user callbacks and teardown, runs
    /// there.
    ///
    /// ```
    ///                       -1-2-3-|
    /// observe(on: elsewhere)
    ///                       --1-2-3-|     on elsewhere, as soon as it has time
    /// ```
    ///
    /// Values that arrive faster than they can be delivered wait in order. A view that shows only the current
    /// value uses `.latest(1)`.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler that delivers.
    ///   - policy: the number of values that may wait, and the treatment of more. Default: the source is
    ///     paused when 256 wait, until 64 are left.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func observe(
        on scheduler: any Scheduler, buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, policy, droppedCount).start()
        }
    }
}

extension Observable {
    /// Starts the source on `scheduler` instead of within `subscribe`.
    ///
    /// ```
    ///                          --1--2--|
    /// subscribe(on: elsewhere)
    ///                          ---1--2--|     begun when elsewhere had time
    /// ```
    ///
    /// For sources that work, or block, during the subscription:
    ///
    /// ```swift
    /// query.flatMap(.latest) { words in index.matches(words).subscribe(on: background) }
    /// ```
    ///
    /// A stream without a scheduler runs on this one from here on; a stream with a scheduler keeps it. Events
    /// that a hot source sends before `scheduler` has run are missed.
    public func subscribe(on scheduler: any Scheduler) -> Observable {
        guard self.scheduler == nil || self.scheduler === scheduler else {
            return Observable(scheduler: self.scheduler) { observer in
                Relay(self, to: observer, .brief, pausesAtOnce: true).start(on: scheduler)
            }
        }
        return Observable(scheduler: scheduler) { [source] observer in
            let cause = StreamCause.ifAttached
            scheduler.schedule {
                observer.scope.enter { StreamCause.restore(cause) { source(observer) } }
            }
        }
    }
}

// MARK: - Relay

extension Observable {
    /// Whether the stream's events arrive in `lane` without a relay.
    @inlinable
    func isAtHome(in lane: Lane) -> Bool {
        guard let scheduler else { return true }
        return scheduler === lane.scheduler
    }

    /// Runs the stream in a separate lane, for an observer on another scheduler. A few values wait in
    /// between, and a pause of the observer pauses the source at once.
    @inlinable
    @inline(never)
    func relay(to observer: Observer<Element, Failure>) {
        Relay(self, to: observer, .brief, pausesAtOnce: true).start()
    }
}

extension BufferPolicy {
    /// The policy of a relay that joins streams on two schedulers (Contracts.md, Threading.md). `observe(on:)` has its
    /// own default.
    @inlinable static var brief: BufferPolicy { .suspend(high: 64, low: 16) }
}

/// Carries events from a source in a separate lane into the observer's lane, and its pauses back to the
/// source.
@usableFromInline
final class Relay<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: waiting events are accessed under `lock`, or from inside both
    // lanes; `isDelivering` and `isHolding` from inside the observer's lane, which debug builds check. The
    // size of no variable depends on the type parameters, so that releasing a relay needs no metadata lookup.

    @usableFromInline let upstream: Observable<Element, Failure>
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: MutableProperty<Int>?
    @usableFromInline let sourceScope: Scope
    @usableFromInline let pausesAtOnce: Bool
    /// The marble of an inspected stream that led to this subscription.
    @usableFromInline let cause = StreamCause.ifAttached
    @usableFromInline let lock = Mutex(())
    @safe @exclusivity(unchecked) @usableFromInline var waiting = PendingBuffer<Element, Failure>()
    /// Delivers the end to the observer, after the waiting values.
    @safe @exclusivity(unchecked) @usableFromInline var end: Callback?
    /// Whether a delivery is pending: it is posted, or waits for a paused observer to resume.
    @safe @exclusivity(unchecked) @usableFromInline var isScheduled = false
    /// Whether a delivery is running, which a resumption must not overtake.
    @safe @exclusivity(unchecked) @usableFromInline var isDelivering = false
    /// Whether the source is paused because the observer is.
    @safe @exclusivity(unchecked) @usableFromInline var isHolding = false

    /// - Parameter pausesAtOnce: whether a pause of the observer pauses the source at once, however few
    ///   values wait. Otherwise only a full queue does.
    @inlinable
    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        _ policy: BufferPolicy<Failure>, _ droppedCount: MutableProperty<Int>? = nil,
        pausesAtOnce: Bool = false
    ) {
        self.upstream = upstream
        self.observer = observer
        self.policy = policy
        self.droppedCount = droppedCount
        self.pausesAtOnce = pausesAtOnce
        sourceScope = Scope(lane: Lane(scheduler: upstream.scheduler, feeding: observer.scope.lane))
    }

    /// Starts the source after the observer's lane has been left: a source that sends at once and without end
    /// must find its observer able to take values, and to cancel.
    ///
    /// - Parameter scheduler: starts the source instead, if not `nil`.
    @inlinable
    func start(on scheduler: (any Scheduler)? = nil) {
        sourceScope.lane.takeUnshared()
        observer.scope.onClose { [sourceScope, lane = observer.scope.lane] in sourceScope.cancel(with: lane) }
        observer.scope.onResume {
            self.deliver()
            if !self.observer.scope.isPaused { self.hold(false) }
        }
        if pausesAtOnce {
            observer.scope.onPause { self.hold(true) }
            if observer.scope.isPaused { hold(true) }
        }
        if let scheduler {
            scheduler.schedule { self.begin() }
        } else {
            observer.scope.lane.afterLeaving { self.begin() }
        }
    }

    @inlinable
    func begin() {
        if sourceScope.isOpen {
            let source = Observer<Element, Failure>(
                scope: sourceScope, target: self,
                receive: { value, relay in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(relay, to: Relay.self).receive(value)
                },
                end: { completion in self.sourceScope.end { self.receive(completion) } })
            if cause == nil {
                upstream.source(source)
            } else {
                StreamCause.restore(cause) { upstream.source(source) }
            }
        }
        sourceScope.lane.leave()
    }

    /// Pauses the source with the observer, or undoes that. The source sees a pause at once, wherever it
    /// runs.
    @usableFromInline
    func hold(_ mustHold: Bool) {
        observer.scope.lane.assertInside()
        guard pausesAtOnce, isHolding != mustHold else { return }
        isHolding = mustHold
        if mustHold {
            sourceScope.pauseFromAnywhere()
        } else {
            sourceScope.enter { self.sourceScope.resume() }
        }
    }

    @inlinable
    func receive(_ value: Element) {
        if pass({ observer.next(value) }) { return }
        let (admission, mustSchedule) = lock.withLock { _ in (admit(value), beginScheduling()) }
        switch admission {
        case .kept: break
        case .full: sourceScope.pause()
        case .dropped: droppedCount?.update { $0 += 1 }
        case .overflown:
            droppedCount?.update { $0 += 1 }
            sourceScope.close()
        }
        if mustSchedule { scheduleDelivery() }
    }

    @inlinable
    func receive(_ completion: Completion<Failure>) {
        if pass({ observer.end(completion) }) { return }
        let mustSchedule = lock.withLock { _ in
            setEnd(completion)
            return beginScheduling()
        }
        if mustSchedule { scheduleDelivery() }
    }

    /// Delivers an event immediately if the observer's lane has no scheduler and is free, and nothing waits.
    /// False if the event has to wait.
    @inlinable
    func pass(_ event: () -> Void) -> Bool {
        sourceScope.lane.assertInside()
        let scope = observer.scope
        guard scope.lane.scheduler == nil, scope.lane.tryEnter() else { return false }
        defer { scope.lane.leave() }
        guard !isScheduled, !scope.isPaused else { return false }
        if scope.isOpen { event() }
        return true
    }

    /// Adds a value to the waiting ones. Only under the lock.
    @inlinable
    func admit(_ value: Element) -> PendingBuffer<Element, Failure>.Admission {
        let admission = waiting.append(value, policy)
        if case .overflown(let error) = admission { setEnd(.failed(error)) }
        return admission
    }

    /// Only under the lock.
    @inlinable
    func setEnd(_ completion: Completion<Failure>) {
        end = Callback { [observer] in observer.end(completion) }
    }

    /// Whether the caller has to schedule a delivery. Only under the lock.
    @inlinable
    func beginScheduling() -> Bool {
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Delivers in a turn of the observer's scheduler, or immediately if it has none.
    @inlinable
    func scheduleDelivery() { observer.scope.inNextTurn { self.deliver() } }

    /// Delivers the waiting events, unless the observer is paused; its resumption then calls again. Events
    /// that arrive meanwhile are delivered in another turn of the scheduler, so that other work gets its
    /// turn.
    @inlinable
    func deliver() {
        let scope = observer.scope
        scope.lane.assertInside()
        guard !isDelivering, scope.isOpen, !scope.isPaused else { return }
        var batch = lock.withLock { _ in
            defer { waiting.values.removeAll() }
            return waiting.values
        }
        isDelivering = true
        var budget = StepBudget(in: scope.lane)
        while scope.isOpen && !scope.isPaused, budget.step(), let value = batch.popFirst() {
            observer.next(value)
        }
        isDelivering = false
        guard scope.isOpen else { return }

        let (admissions, end, mustSchedule, mustResume) = lock.withLock {
            _ -> ([PendingBuffer<Element, Failure>.Admission], Callback?, Bool, Bool) in
            let admissions = waiting.putBack(batch, policy)
            for case .overflown(let error) in admissions { setEnd(.failed(error)) }
            let mustResume = waiting.resumesSource(policy)
            if scope.isPaused { return (admissions, nil, false, mustResume) }
            isScheduled = !waiting.values.isEmpty
            return (admissions, isScheduled ? nil : self.end, isScheduled, mustResume)
        }
        if !admissions.isEmpty { settle(admissions) }
        if let end { return end.call() }
        if mustSchedule { scheduleDelivery() }
        if mustResume { sourceScope.enter { self.sourceScope.resume() } }
    }

    /// Handles the admissions of values that the observer did not take and that wait again.
    @inlinable
    func settle(_ admissions: [PendingBuffer<Element, Failure>.Admission]) {
        for admission in admissions {
            switch admission {
            case .kept: break
            case .full: sourceScope.enter { self.sourceScope.pause() }
            case .dropped: droppedCount?.update { $0 += 1 }
            case .overflown:
                droppedCount?.update { $0 += 1 }
                sourceScope.cancel()
            }
        }
    }
}
