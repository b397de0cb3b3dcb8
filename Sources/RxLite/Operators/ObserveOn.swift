public import Synchronization

extension Observable {
    /// The same events, delivered on `scheduler`: everything from here on down, user callbacks and
    /// teardown included, runs there.
    ///
    /// What arrives faster than it can be delivered waits in order; when 256 values wait the source is
    /// paused, and goes on when they are down to 64.
    @inlinable
    public func observe(on scheduler: any Scheduler) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, on: scheduler).start()
        }
    }
}

/// Carries events from the source's lane to the observer's scheduler.
@usableFromInline
final class Relay<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Queue {
        @usableFromInline var values: [Element] = []
        @usableFromInline var completion: Completion<Failure>?
        /// A delivery is to come: it is posted, or waits for a paused observer's resumption.
        @usableFromInline var isScheduled = false
        @usableFromInline var isSourcePaused = false

        @inlinable
        init() {}
    }

    @usableFromInline let upstream: Observable<Element, Failure>
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scheduler: any Scheduler
    @usableFromInline let sourceScope: Scope
    @usableFromInline let queue = Mutex(Queue())
    /// Touched only from inside the observer's lane: a resumption during a delivery must not overtake it.
    @usableFromInline let isDelivering = Confined(false)

    @inlinable static var highWater: Int { 256 }
    @inlinable static var lowWater: Int { 64 }

    @inlinable
    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        on scheduler: any Scheduler
    ) {
        self.upstream = upstream
        self.observer = observer
        self.scheduler = scheduler
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
        let (mustSchedule, mustPause) = queue.withLock { queue in
            queue.values.append(value)
            let mustSchedule = !queue.isScheduled
            let mustPause = !queue.isSourcePaused && queue.values.count >= Self.highWater
            queue.isScheduled = true
            if mustPause { queue.isSourcePaused = true }
            return (mustSchedule, mustPause)
        }
        if mustPause { sourceScope.pause() }
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
        let batch = queue.withLock { queue in
            defer { queue.values = [] }
            return queue.values
        }
        isDelivering.value = true
        let rest = deliver(batch)
        isDelivering.value = false
        guard observer.scope.isOpen else { return }

        let (completion, mustSchedule, mustResume) = queue.withLock {
            queue -> (Completion<Failure>?, Bool, Bool) in
            queue.values.insert(contentsOf: rest, at: 0)
            let mustResume = queue.isSourcePaused && queue.values.count <= Self.lowWater
            if mustResume { queue.isSourcePaused = false }
            if observer.scope.isPaused { return (nil, false, mustResume) }
            queue.isScheduled = !queue.values.isEmpty
            return (queue.values.isEmpty ? queue.completion : nil, queue.isScheduled, mustResume)
        }
        if let completion { return observer.end(completion) }
        if mustSchedule { scheduleDelivery() }
        if mustResume { sourceScope.enter { self.sourceScope.resume() } }
    }

    /// Delivers values one by one, and returns what is left when the observer pauses.
    @inlinable
    func deliver(_ batch: [Element]) -> ArraySlice<Element> {
        for (index, value) in batch.enumerated() {
            if observer.scope.isPaused { return batch[index...] }
            guard observer.scope.isOpen else { break }
            observer.next(value)
        }
        return []
    }
}
