public import Synchronization

extension Observable {
    /// The same events, delivered on `scheduler`: everything from here on down, user callbacks and
    /// teardown included, runs there.
    ///
    /// ```
    ///                       -1-2-3-|
    /// observe(on: elsewhere)
    ///                       --1-2-3-|     on elsewhere, as soon as it has time
    /// ```
    ///
    /// What arrives faster than it can be delivered waits in order. A view that shows only what is current
    /// takes `.latest(1)`.
    ///
    /// - Parameters:
    ///   - scheduler: delivers.
    ///   - policy: how many values may wait, and what happens to more. Default: when 256 wait the source is
    ///     paused, and goes on when they are down to 64.
    ///   - droppedCount: counts up with each value that `policy` has no room for. Default: not counted.
    @inlinable
    public func observe(
        on scheduler: any Scheduler, buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: State<Int>? = nil
    ) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, on: scheduler, policy, droppedCount).start()
        }
    }
}

/// Carries events from the source's lane to the observer's scheduler.
@usableFromInline
final class Relay<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Queue {
        @usableFromInline var waiting = Waiting<Element, Failure>()
        @usableFromInline var completion: Completion<Failure>?
        /// A delivery is to come: it is posted, or waits for a paused observer's resumption.
        @usableFromInline var isScheduled = false

        @inlinable
        init() {}
    }

    @usableFromInline let upstream: Observable<Element, Failure>
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scheduler: any Scheduler
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: State<Int>?
    @usableFromInline let sourceScope: Scope
    @usableFromInline let queue = Mutex(Queue())
    /// Touched only from inside the observer's lane: a resumption during a delivery must not overtake it.
    @usableFromInline let isDelivering = Confined(false)

    @inlinable
    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        on scheduler: any Scheduler, _ policy: BufferPolicy<Failure>, _ droppedCount: State<Int>?
    ) {
        self.upstream = upstream
        self.observer = observer
        self.scheduler = scheduler
        self.policy = policy
        self.droppedCount = droppedCount
        sourceScope = Scope(lane: Lane(scheduler: upstream.scheduler, feeding: observer.scope.lane))
    }

    /// The source starts as soon as the observer's lane is left: one that sends at once and without end
    /// must find its observer able to take values, and to leave.
    @inlinable
    func start() {
        sourceScope.lane.takeUnshared()
        observer.scope.onClose { [sourceScope] in sourceScope.cancel() }
        observer.scope.onResume { self.deliver() }
        let input = Observer<Element, Failure>(
            scope: sourceScope, next: { self.append($0) },
            end: { completion in self.sourceScope.end { self.append(completion) } })
        observer.scope.lane.afterLeaving { [upstream, sourceScope] in
            if sourceScope.isOpen { upstream.subscribe(input) }
            sourceScope.lane.leave()
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

    @inlinable
    func scheduleDelivery() {
        scheduler.schedule { self.observer.scope.enter { self.deliver() } }
    }

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
        while observer.scope.isOpen && !observer.scope.isPaused, let value = batch.popFirst() {
            observer.next(value)
        }
        isDelivering.value = false
        guard observer.scope.isOpen else { return }

        let (admissions, completion, mustSchedule, mustResume) = queue.withLock {
            queue -> ([Waiting<Element, Failure>.Admission], Completion<Failure>?, Bool, Bool) in
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
    func settle(_ admissions: [Waiting<Element, Failure>.Admission]) {
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
