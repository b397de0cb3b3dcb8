public import Synchronization

extension Observable {
    /// Whether the stream's events arrive in `lane` by themselves.
    @inlinable
    func isAtHome(in lane: Lane) -> Bool {
        guard let scheduler else { return true }
        return scheduler === lane.scheduler
    }

    /// Runs the stream in a lane of its own, for an observer that lives elsewhere: a few values wait in between, and
    /// its pauses pause the source at once.
    @inlinable
    @inline(never)
    func relay(to observer: Observer<Element, Failure>) {
        Relay(self, to: observer, .brief, pausesAtOnce: true).start()
    }
}

extension BufferPolicy {
    /// What waits between two schedulers where the user has not said anything.
    @inlinable static var brief: BufferPolicy { .suspend(high: 64, low: 16) }
}

/// Carries events from a source with a lane of its own into the observer's: the one brake between two schedulers.
@usableFromInline
final class Relay<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Queue {
        @usableFromInline var waiting = PendingBuffer<Element, Failure>()
        @usableFromInline var completion: Completion<Failure>?
        /// A delivery is to come: it is posted, or waits for a paused observer's resumption.
        @usableFromInline var isScheduled = false

        @inlinable
        init() {}
    }

    @usableFromInline let upstream: Observable<Element, Failure>
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: State<Int>?
    @usableFromInline let sourceScope: Scope
    @usableFromInline let queue = Mutex(Queue())
    /// Touched only from inside the observer's lane: a resumption during a delivery must not overtake it.
    @usableFromInline let isDelivering: Confined<Bool>
    /// Whether the source is paused because the observer is. `nil` where it is to be paused by a full queue only.
    @usableFromInline let isHolding: Confined<Bool>?

    /// - Parameter pausesAtOnce: whether a pause of the observer pauses the source, however little waits.
    @inlinable
    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        _ policy: BufferPolicy<Failure>, _ droppedCount: State<Int>? = nil, pausesAtOnce: Bool = false
    ) {
        self.upstream = upstream
        self.observer = observer
        self.policy = policy
        self.droppedCount = droppedCount
        let lane = observer.scope.lane
        isDelivering = Confined(false, in: lane)
        isHolding = pausesAtOnce ? Confined(false, in: lane) : nil
        sourceScope = Scope(lane: Lane(scheduler: upstream.scheduler, feeding: lane))
    }

    /// The source starts as soon as the observer's lane is left: one that sends at once and without end
    /// must find its observer able to take values, and to leave.
    ///
    /// - Parameter scheduler: starts it instead.
    @inlinable
    func start(on scheduler: (any Scheduler)? = nil) {
        sourceScope.lane.takeUnshared()
        observer.scope.onClose { [sourceScope] in sourceScope.cancel() }
        observer.scope.onResume {
            self.deliver()
            if !self.observer.scope.isPaused { self.hold(false) }
        }
        if isHolding != nil {
            observer.scope.onPause { self.hold(true) }
            if observer.scope.isPaused { hold(true) }
        }
        let input = Observer<Element, Failure>(
            scope: sourceScope, next: { self.append($0) },
            end: { completion in self.sourceScope.end { self.append(completion) } })
        let begin: @Sendable () -> Void = { [upstream, sourceScope] in
            if sourceScope.isOpen { upstream.source(input) }
            sourceScope.lane.leave()
        }
        if let scheduler { scheduler.schedule(begin) } else { observer.scope.lane.afterLeaving(begin) }
    }

    /// Pauses the source as the observer is, or takes that back. The source sees a pause at once, wherever it runs.
    @usableFromInline
    func hold(_ mustHold: Bool) {
        guard let isHolding, isHolding.value != mustHold else { return }
        isHolding.value = mustHold
        if mustHold {
            sourceScope.pauseFromAnywhere()
        } else {
            sourceScope.enter { self.sourceScope.resume() }
        }
    }

    @inlinable
    func append(_ value: Element) {
        let (admission, mustSchedule) = queue.withLock { queue in
            let admission = queue.waiting.append(value, policy)
            if case .overflown(let error) = admission { queue.completion = .failed(error) }
            defer { queue.isScheduled = true }
            return (admission, !queue.isScheduled)
        }
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
    func append(_ completion: Completion<Failure>) {
        let mustSchedule = queue.withLock { queue in
            queue.completion = completion
            defer { queue.isScheduled = true }
            return !queue.isScheduled
        }
        if mustSchedule { scheduleDelivery() }
    }

    /// Delivers in a turn of the observer's scheduler; here and now where it has none.
    @inlinable
    func scheduleDelivery() { observer.scope.inNextTurn { self.deliver() } }

    /// Delivers what is there, unless the observer is paused; then its resumption calls again. What comes
    /// meanwhile is delivered by another turn of the scheduler, so that others have theirs.
    @inlinable
    func deliver() {
        guard !isDelivering.value, observer.scope.isOpen, !observer.scope.isPaused else { return }
        var batch = queue.withLock { queue in
            defer { queue.waiting.values.removeAll() }
            return queue.waiting.values
        }
        isDelivering.value = true
        var turn = Turn(in: observer.scope.lane)
        while observer.scope.isOpen && !observer.scope.isPaused, turn.step(), let value = batch.popFirst() {
            observer.next(value)
        }
        isDelivering.value = false
        guard observer.scope.isOpen else { return }

        let (admissions, completion, mustSchedule, mustResume) = queue.withLock {
            queue -> ([PendingBuffer<Element, Failure>.Admission], Completion<Failure>?, Bool, Bool) in
            let admissions = queue.waiting.putBack(batch, policy)
            for case .overflown(let error) in admissions { queue.completion = .failed(error) }
            let mustResume = queue.waiting.resumesSource(policy)
            if observer.scope.isPaused { return (admissions, nil, false, mustResume) }
            queue.isScheduled = !queue.waiting.values.isEmpty
            let completion = queue.isScheduled ? nil : queue.completion
            return (admissions, completion, queue.isScheduled, mustResume)
        }
        if !admissions.isEmpty { settle(admissions) }
        if let completion { return observer.end(completion) }
        if mustSchedule { scheduleDelivery() }
        if mustResume { sourceScope.enter { self.sourceScope.resume() } }
    }

    /// Does what follows when values that an observer did not take go back to those which wait.
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
