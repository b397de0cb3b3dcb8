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
final class Relay<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: what waits is touched under `lock`, or from inside both lanes;
    // `isDelivering` and `isHolding` from inside the observer's lane, which debug builds check. No variable's size
    // depends on the types, so that nothing about them is looked up when a relay is released.

    @usableFromInline let upstream: Observable<Element, Failure>
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: State<Int>?
    @usableFromInline let sourceScope: Scope
    @usableFromInline let pausesAtOnce: Bool
    @usableFromInline let lock = Mutex(())
    @safe @exclusivity(unchecked) @usableFromInline var waiting = PendingBuffer<Element, Failure>()
    /// Brings the observer the end, after what waits.
    @safe @exclusivity(unchecked) @usableFromInline var end: Callback?
    /// A delivery is to come: it is posted, or waits for a paused observer's resumption.
    @safe @exclusivity(unchecked) @usableFromInline var isScheduled = false
    /// A resumption during a delivery must not overtake it.
    @safe @exclusivity(unchecked) @usableFromInline var isDelivering = false
    /// Whether the source is paused because the observer is.
    @safe @exclusivity(unchecked) @usableFromInline var isHolding = false

    /// - Parameter pausesAtOnce: whether a pause of the observer pauses the source, however little waits. Otherwise only
    ///   a full queue does.
    @inlinable
    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        _ policy: BufferPolicy<Failure>, _ droppedCount: State<Int>? = nil, pausesAtOnce: Bool = false
    ) {
        self.upstream = upstream
        self.observer = observer
        self.policy = policy
        self.droppedCount = droppedCount
        self.pausesAtOnce = pausesAtOnce
        sourceScope = Scope(lane: Lane(scheduler: upstream.scheduler, feeding: observer.scope.lane))
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
            upstream.source(
                Observer(
                    scope: sourceScope, target: self,
                    receive: { value, relay in
                        // Guard: the target given above.
                        unsafe unsafeDowncast(relay, to: Relay.self).receive(value)
                    },
                    end: { completion in self.sourceScope.end { self.receive(completion) } }))
        }
        sourceScope.lane.leave()
    }

    /// Pauses the source as the observer is, or takes that back. The source sees a pause at once, wherever it runs.
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
        if handOn({ observer.next(value) }) { return }
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
        if handOn({ observer.end(completion) }) { return }
        let mustSchedule = lock.withLock { _ in
            setEnd(completion)
            return beginScheduling()
        }
        if mustSchedule { scheduleDelivery() }
    }

    /// Lets an event pass here and now where the observer's lane has no scheduler, nobody is inside, and nothing waits.
    /// False if the event has to wait.
    @inlinable
    func handOn(_ event: () -> Void) -> Bool {
        sourceScope.lane.assertInside()
        let scope = observer.scope
        guard scope.lane.scheduler == nil, scope.lane.tryEnter() else { return false }
        defer { scope.lane.leave() }
        guard !isScheduled, !scope.isPaused else { return false }
        if scope.isOpen { event() }
        return true
    }

    /// Lets a value wait. Only under the lock.
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

    /// Delivers in a turn of the observer's scheduler; here and now where it has none.
    @inlinable
    func scheduleDelivery() { observer.scope.inNextTurn { self.deliver() } }

    /// Delivers what is there, unless the observer is paused; then its resumption calls again. What comes
    /// meanwhile is delivered by another turn of the scheduler, so that others have theirs.
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
        var turn = Turn(in: scope.lane)
        while scope.isOpen && !scope.isPaused, turn.step(), let value = batch.popFirst() {
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
