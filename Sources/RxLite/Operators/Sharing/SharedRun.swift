public import Synchronization

/// The current run of a shared stream, which its subscribers have in common.
@usableFromInline
final class SharedRun<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Connection = SharedConnection<Element, Failure>
    /// Makes the stream whose first value resets the run, from the run's end, or from `nil` when the last
    /// subscriber has left.
    @usableFromInline typealias ResetNotifiers = @Sendable (Completion<Failure>?) -> Observable<Void, Never>

    @usableFromInline
    struct Contents: Sendable {
        @usableFromInline var connection: Connection?
        @usableFromInline var users = 0
        /// Whether the run has ended. Subscribers that leave because of the end do not reset the run.
        @usableFromInline var hasEnded = false
        /// The subscription to the notifier that is being awaited.
        @usableFromInline var resetWait: Subscription?
        /// Distinguishes the awaited reset from those that have been withdrawn.
        @usableFromInline var resetGeneration = 0

        @inlinable
        init() {}

        /// Withdraws the awaited reset, if any. The caller cancels its subscription after unlocking.
        @inlinable
        mutating func withdrawReset() -> Subscription? {
            resetGeneration += 1
            return resetWait.take()
        }
    }

    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let replay: Int
    @usableFromInline let reset: ShareReset
    /// `nil` resets immediately.
    @usableFromInline let resetNotifiers: ResetNotifiers?
    @usableFromInline let contents = Mutex(Contents())

    @inlinable
    init(
        _ stream: Observable<Element, Failure>, replay: Int, reset: ShareReset,
        resetNotifiers: ResetNotifiers? = nil
    ) {
        self.stream = stream
        self.replay = replay
        self.reset = reset
        self.resetNotifiers = resetNotifiers
    }

    /// Called inside the subscriber's lane. The caller that creates the run starts it, after leaving that
    /// lane: a source that sends at once and without end must find its subscribers able to receive, and to
    /// cancel.
    @inlinable
    func join(
        _ observer: Observer<Element, Failure>, _ policy: BufferPolicy<Failure>,
        _ droppedCount: MutableProperty<Int>?
    ) {
        guard observer.scope.isOpen else { return }
        let new = Connection(
            replaying: replay, on: stream.scheduler, startedIn: observer.scope.lane)
        let (connection, withdrawn) = contents.withLock { contents in
            contents.users += 1
            let withdrawn = contents.hasEnded ? nil : contents.withdrawReset()
            let connection = contents.connection ?? new
            contents.connection = connection
            return (connection, withdrawn)
        }
        withdrawn?.cancel()
        let subscriber = SharedSubscriber(
            observer, of: connection.multicaster, connection, policy, droppedCount)
        subscriber.join()
        // Registered last, so it runs first: the subscriber leaves before its pause is undone. A source paused by this
        // subscriber alone must not resume just to be cancelled.
        subscriber.scope.onClose { self.leave(connection) }
        guard connection === new else { return }
        observer.scope.lane.afterLeaving { self.start(connection) }
    }

    @inlinable
    func start(_ connection: Connection) {
        let scope = connection.scope
        if scope.isOpen {
            connection.applyBackpressure()
            stream.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        connection.send(value, to: connection.multicaster)
                        connection.applyBackpressure()
                    },
                    end: { completion in scope.end { self.end(connection, completion) } }))
        }
        scope.lane.leave()
    }

    @inlinable
    func leave(_ left: Connection) {
        let generation = contents.withLock { contents -> Int? in
            guard contents.connection === left else { return nil }
            contents.users -= 1
            guard contents.users == 0, !contents.hasEnded, reset.contains(.unused) else { return nil }
            return contents.resetGeneration
        }
        if let generation { awaitReset(generation, toForget: left, after: nil) }
    }

    /// Forgets the run before its end is sent, so that a subscription made from within the end starts a new
    /// run.
    @inlinable
    func end(_ ended: Connection, _ completion: Completion<Failure>) {
        let occasion: ShareReset =
            switch completion {
            case .finished: .finished
            case .failed: .failed
            }
        let (generation, withdrawn) = contents.withLock { contents -> (Int?, Subscription?) in
            guard contents.connection === ended else { return (nil, nil) }
            contents.hasEnded = true
            let withdrawn = contents.withdrawReset()
            return (reset.contains(occasion) ? contents.resetGeneration : nil, withdrawn)
        }
        withdrawn?.cancel()
        if let generation { awaitReset(generation, toForget: ended, after: completion) }
        ended.multicaster.end(completion)
    }

    /// Forgets the run at the first value of the notifier, unless the reset is withdrawn before.
    @inlinable
    func awaitReset(
        _ generation: Int, toForget connection: Connection, after completion: Completion<Failure>?
    ) {
        guard let resetNotifiers else { return forget(connection, generation) }
        let wait = resetNotifiers(completion).take(1).subscribe { self.forget(connection, generation) }
        let isAwaited = contents.withLock { contents in
            guard contents.connection === connection, contents.resetGeneration == generation else {
                return false
            }
            contents.resetWait = wait
            return true
        }
        if !isAwaited { wait.cancel() }
    }

    /// Forgets the run, and cancels its source, unless the reset has been withdrawn.
    @inlinable
    func forget(_ connection: Connection, _ generation: Int) {
        let forgotten = contents.withLock { contents -> Contents? in
            guard contents.connection === connection, contents.resetGeneration == generation else {
                return nil
            }
            let forgotten = contents
            contents = Contents()
            return forgotten
        }
        if let forgotten, !forgotten.hasEnded { connection.scope.cancel() }
    }
}

/// One subscriber of a shared stream. It takes values at once if it can; other values wait here, as many as
/// the policy allows.
@usableFromInline
final class SharedSubscriber<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Queue: Sendable {
        @usableFromInline var waiting = PendingBuffer<Element, Failure>()
        /// The end, which follows the waiting values.
        @usableFromInline var completion: Completion<Failure>?
        /// Whether the subscriber has left the run, so that no more may arrive.
        @usableFromInline var hasLeft = false

        @inlinable
        init() {}
    }

    @usableFromInline
    enum Event {
        /// A value, and whether so few values wait after it that the source may resume.
        case value(Element, isRoomy: Bool)
        case end(Completion<Failure>)
    }

    @usableFromInline let observer: Observer<Element, Failure>
    /// The scope of the participation in the run. It ends before the observer's scope if values wait for a
    /// paused observer after the end.
    @usableFromInline let scope: Scope
    @usableFromInline let multicaster: Multicaster<Element, Failure>
    @usableFromInline let source: SharedSource
    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let droppedCount: MutableProperty<Int>?
    @usableFromInline let queue = Mutex(Queue())
    /// Whether values wait, so that new ones must wait behind them. Changed under the queue's lock.
    @usableFromInline let hasWaiting = Atomic<Bool>(false)
    /// Whether a delivery is in the lane's queue.
    @usableFromInline let isScheduled = Atomic<Bool>(false)
    /// Accessed only from inside the observer's lane: a resumption during a delivery must not overtake it.
    @usableFromInline let isDelivering: LaneState<Bool>
    /// The state in which the subscriber is counted. Accessed only while the source's demand is being
    /// changed, which is under a lock.
    @usableFromInline let status = Atomic(SharedDemand.Status.joining)

    /// Only from inside the observer's lane.
    @inlinable
    init(
        _ observer: Observer<Element, Failure>, of multicaster: Multicaster<Element, Failure>,
        _ source: SharedSource, _ policy: BufferPolicy<Failure>, _ droppedCount: MutableProperty<Int>?
    ) {
        self.observer = observer
        self.multicaster = multicaster
        self.source = source
        self.policy = policy
        self.droppedCount = droppedCount
        scope = observer.scope.child()
        isDelivering = LaneState(false, in: observer.scope.lane)
    }

    /// Begins to receive values, and to have pauses counted. Only from inside the observer's lane.
    ///
    /// The subscriber counts as listening only after that lane is left: a source that then resumes and sends
    /// at once must find it able to take values.
    @usableFromInline
    func join() {
        let input = Observer<Element, Failure>(
            scope: scope, next: { _ in },
            end: { completion in self.scope.end { self.end(completion) } })
        multicaster.add(input, as: self)
        observer.scope.onResume { self.deliver() }
        scope.onPause { self.count() }
        scope.onResume { self.countAfterLeaving() }
        scope.onClose {
            let wasFull = self.leave()
            self.source.changeDemand { demand in
                demand.remove(self.status.exchange(.gone, ordering: .relaxed))
                if wasFull { demand.full -= 1 }
            }
        }
        if scope.isOpen { countAfterLeaving() }
    }

    private func countAfterLeaving() {
        observer.scope.lane.afterLeaving { self.count() }
    }

    /// Counts the subscriber in its current state. From any lane.
    private func count() {
        source.changeDemand { demand in
            let former = self.status.load(ordering: .relaxed)
            guard former != .gone else { return }
            let status = self.scope.isPaused ? SharedDemand.Status.paused : .listening
            self.status.store(status, ordering: .relaxed)
            demand.remove(former)
            demand.add(status)
        }
    }

    /// Leaves the run. Returns whether the source has been waiting for this subscriber.
    private func leave() -> Bool {
        queue.withLock { queue in
            queue.hasLeft = true
            defer { queue.waiting.isSourcePaused = false }
            return queue.waiting.isSourcePaused
        }
    }

    /// Receives a value, now or later. Only from inside the multicaster's lane.
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

    /// Keeps the values sent before the subscriber joined. It asked for them, so the policy drops none of
    /// them in favour of later ones.
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
        case .full: source.changeDemand { $0.full += 1 }
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

    /// Delivers the waiting values, unless the observer is paused; its resumption then calls again. Only from
    /// inside its lane.
    @inlinable
    func deliver() {
        guard !isDelivering.value else { return }
        isDelivering.value = true
        while observer.scope.isOpen, !observer.scope.isPaused, let event = next() {
            switch event {
            case .value(let value, let isRoomy):
                if isRoomy { source.changeDemand { $0.full -= 1 } }
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

    /// Ends after the waiting values, and after a pause of the observer. Only from inside its lane.
    @usableFromInline
    func end(_ completion: Completion<Failure>) {
        let isPaused = observer.scope.isPaused
        let mustWait = queue.withLock { queue in
            guard isPaused || !queue.waiting.values.isEmpty else { return false }
            queue.completion = completion
            return true
        }
        if mustWait { deliver() } else { observer.end(completion) }
    }
}
