import Synchronization

extension Observable {
    /// The same events, delivered on `scheduler`: everything from here on down, user callbacks and
    /// teardown included, runs there.
    ///
    /// What arrives faster than it can be delivered waits in order; when 256 values wait the source is
    /// paused, and goes on when they are down to 64.
    public func observe(on scheduler: any Scheduler) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, on: scheduler).start()
        }
    }
}

/// Carries events from the source's lane to the observer's scheduler.
private final class Relay<Element: Sendable, Failure: Error>: Sendable {
    private struct Queue {
        var values: [Element] = []
        var completion: Completion<Failure>?
        var isScheduled = false
        var isSourcePaused = false
    }

    private let upstream: Observable<Element, Failure>
    private let observer: Observer<Element, Failure>
    private let scheduler: any Scheduler
    private let sourceScope: Scope
    private let queue = Mutex(Queue())

    private static var highWater: Int { 256 }
    private static var lowWater: Int { 64 }

    init(
        _ upstream: Observable<Element, Failure>, to observer: Observer<Element, Failure>,
        on scheduler: any Scheduler
    ) {
        self.upstream = upstream
        self.observer = observer
        self.scheduler = scheduler
        sourceScope = Scope(lane: Lane(scheduler: upstream.scheduler, feeding: observer.scope.lane))
    }

    func start() {
        observer.scope.onClose { [sourceScope] in sourceScope.cancel() }
        observer.scope.onResume { self.deliver() }
        let input = Observer<Element, Failure>(
            scope: sourceScope, next: { self.append($0) },
            end: { completion in self.sourceScope.end { self.append(completion) } })
        sourceScope.lane.hold { upstream.subscribe(input) }
    }

    private func append(_ value: Element) {
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

    private func append(_ completion: Completion<Failure>) {
        let mustSchedule = queue.withLock { queue in
            queue.completion = completion
            defer { queue.isScheduled = true }
            return !queue.isScheduled
        }
        if mustSchedule { scheduleDelivery() }
    }

    private func scheduleDelivery() {
        scheduler.schedule { self.observer.scope.enter { self.deliver() } }
    }

    /// Delivers what is there, unless the observer is paused; then its resumption calls again.
    private func deliver() {
        while observer.scope.isOpen && !observer.scope.isPaused {
            let batch = queue.withLock { queue in
                let batch = queue.values
                queue.values = []
                if batch.isEmpty && queue.completion == nil { queue.isScheduled = false }
                return batch
            }
            guard deliver(batch) else { return }
            if batch.isEmpty {
                guard let completion = queue.withLock({ $0.values.isEmpty ? $0.completion : nil }) else {
                    break
                }
                return observer.end(completion)
            }
        }
        resumeSourceIfLow()
    }

    /// Delivers values one by one; what is left when the observer pauses goes back to the front.
    private func deliver(_ batch: [Element]) -> Bool {
        for (index, value) in batch.enumerated() {
            guard observer.scope.isOpen else { return false }
            if observer.scope.isPaused {
                queue.withLock { $0.values.insert(contentsOf: batch[index...], at: 0) }
                return true
            }
            observer.next(value)
        }
        return true
    }

    private func resumeSourceIfLow() {
        let mustResume = queue.withLock { queue in
            guard queue.isSourcePaused, queue.values.count <= Self.lowWater else { return false }
            queue.isSourcePaused = false
            return true
        }
        if mustResume { sourceScope.enter { self.sourceScope.resume() } }
    }
}
