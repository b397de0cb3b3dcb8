public import Synchronization

/// One subscriber of a shared stream. It takes values at once while it can; those that it cannot take wait here, as
/// many as the policy lets.
@usableFromInline
final class SharedSubscriber<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Queue: Sendable {
        @usableFromInline var waiting = PendingBuffer<Element, Failure>()
        /// Comes after the values that wait.
        @usableFromInline var completion: Completion<Failure>?
        /// Whether it has left the run: no more may come.
        @usableFromInline var hasLeft = false

        @inlinable
        init() {}
    }

    @usableFromInline
    enum Event {
        /// A value, and whether so few wait after it that the source may go on.
        case value(Element, isRoomy: Bool)
        case end(Completion<Failure>)
    }

    @usableFromInline let observer: Observer<Element, Failure>
    /// Its part in the run. Ends before the observer's scope where values wait for a paused one after the end.
    @usableFromInline let scope: Scope
    @usableFromInline let connection: SharedConnection<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: State<Int>?
    @usableFromInline let queue = Mutex(Queue())
    /// Whether values wait, so that those which come must wait behind them. Changed under the queue's lock.
    @usableFromInline let hasWaiting = Atomic<Bool>(false)
    /// Whether a delivery is in the lane's queue.
    @usableFromInline let isScheduled = Atomic<Bool>(false)
    /// Touched only from inside the observer's lane: a resumption during a delivery must not overtake it.
    @usableFromInline let isDelivering: Confined<Bool>
    /// As what it is counted. Touched only while the connection's demand is being changed, which is under a lock.
    @usableFromInline let part = Atomic(SharedDemand.Part.joining)

    /// Only from inside the observer's lane.
    @inlinable
    init(
        _ observer: Observer<Element, Failure>, of connection: SharedConnection<Element, Failure>,
        _ policy: BufferPolicy<Failure>, _ droppedCount: State<Int>?
    ) {
        self.observer = observer
        self.connection = connection
        self.policy = policy
        self.droppedCount = droppedCount
        scope = observer.scope.child()
        isDelivering = Confined(false, in: observer.scope.lane)
    }

    /// Begins to listen, and to have its pauses count. Only from inside the observer's lane.
    ///
    /// It counts as one that listens only when that lane is left: a source that then goes on, and sends at once, must
    /// find it able to take values.
    @usableFromInline
    func join() {
        let input = Observer<Element, Failure>(
            scope: scope, next: { _ in },
            end: { completion in self.scope.end { self.end(completion) } })
        connection.multicaster.add(input, as: self)
        observer.scope.onResume { self.deliver() }
        scope.onPause { self.count() }
        scope.onResume { self.countAfterLeaving() }
        scope.onClose {
            let wasFull = self.leave()
            self.connection.changeDemand { demand in
                demand.remove(self.part.exchange(.gone, ordering: .relaxed))
                if wasFull { demand.full -= 1 }
            }
        }
        if scope.isOpen { countAfterLeaving() }
    }

    private func countAfterLeaving() {
        observer.scope.lane.afterLeaving { self.count() }
    }

    /// Counts it as what it is by now. From any lane.
    private func count() {
        connection.changeDemand { demand in
            let former = self.part.load(ordering: .relaxed)
            guard former != .gone else { return }
            let part = self.scope.isPaused ? SharedDemand.Part.paused : .listening
            self.part.store(part, ordering: .relaxed)
            demand.remove(former)
            demand.add(part)
        }
    }

    /// Whether the source has been waiting for it.
    private func leave() -> Bool {
        queue.withLock { queue in
            queue.hasLeft = true
            defer { queue.waiting.isSourcePaused = false }
            return queue.waiting.isSourcePaused
        }
    }

    /// Takes a value, now or later. Only from inside the multicaster's lane.
    @inlinable
    func receive(_ value: Element) {
        let lane = observer.scope.lane
        guard lane.tryEnter() else {
            wait(value)
            return schedule()
        }
        if scope.isOpen {
            if hasWaiting.load(ordering: .relaxed) || scope.isPaused {
                wait(value)
                deliver()
            } else {
                observer.next(value)
            }
        }
        lane.leave()
    }

    /// Keeps values from before its time. They are what it has asked for, so that the policy drops none of them for the
    /// others' sake.
    @usableFromInline
    func replay(_ values: FIFO<Element>) {
        guard !values.isEmpty else { return }
        queue.withLock { queue in
            values.forEach { queue.waiting.values.append($0) }
            hasWaiting.store(true, ordering: .relaxed)
        }
        schedule()
    }

    @inlinable
    @inline(never)
    func wait(_ value: Element) {
        let admission = queue.withLock { queue -> PendingBuffer<Element, Failure>.Admission in
            guard !queue.hasLeft, queue.completion == nil else { return .kept }
            hasWaiting.store(true, ordering: .relaxed)
            let admission = queue.waiting.append(value, policy)
            if case .overflown(let error) = admission { queue.completion = .failed(error) }
            return admission
        }
        switch admission {
        case .kept: break
        case .full: connection.changeDemand { $0.full += 1 }
        case .dropped: droppedCount?.update { $0 += 1 }
        case .overflown:
            droppedCount?.update { $0 += 1 }
            scope.cancel()
        }
    }

    @inlinable
    func schedule() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        observer.scope.lane.enqueue {
            self.isScheduled.store(false, ordering: .releasing)
            self.deliver()
        }
    }

    /// Hands on what waits, unless the observer is paused; then its resumption calls again. Only from inside its lane.
    @inlinable
    func deliver() {
        guard !isDelivering.value else { return }
        isDelivering.value = true
        while observer.scope.isOpen, !observer.scope.isPaused, let event = next() {
            switch event {
            case .value(let value, let isRoomy):
                if isRoomy { connection.changeDemand { $0.full -= 1 } }
                observer.next(value)
            case .end(let completion): observer.end(completion)
            }
        }
        isDelivering.value = false
    }

    @inlinable
    func next() -> Event? {
        queue.withLock { queue in
            if let value = queue.waiting.values.popFirst() {
                return .value(value, isRoomy: queue.waiting.resumesSource(policy))
            }
            hasWaiting.store(false, ordering: .relaxed)
            return queue.completion.take().map(Event.end)
        }
    }

    /// Ends, after what waits. Only from inside the observer's lane.
    @usableFromInline
    func end(_ completion: Completion<Failure>) {
        let mustWait = queue.withLock { queue in
            guard !queue.waiting.values.isEmpty else { return false }
            queue.completion = completion
            return true
        }
        if mustWait { deliver() } else { observer.end(completion) }
    }
}
