public import Synchronization

/// Values between a stream that pushes and a task that pulls.
@usableFromInline
final class ValuesBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Event = Result<Element?, Failure>

    @usableFromInline
    struct Contents {
        @usableFromInline var waiting: PendingBuffer<Element, Failure>
        @usableFromInline var completion: Completion<Failure>?
        @usableFromInline var waiter: CheckedContinuation<Event, Never>?

        @inlinable
        init(completion: Completion<Failure>? = nil, droppedCount: Int = 0) {
            waiting = PendingBuffer(droppedCount: droppedCount)
            self.completion = completion
        }
    }

    @usableFromInline let policy: BufferPolicy<Failure>
    @usableFromInline let scope: Scope
    @usableFromInline let contents = Mutex(Contents())

    @inlinable
    init(_ stream: Observable<Element, Failure>, _ policy: BufferPolicy<Failure>) {
        self.policy = policy
        scope = Scope(lane: .forSubscription(on: stream.scheduler))
        // The stream holds the buffer, not the iterator: letting go of the iterator cancels it.
        let observer = Observer<Element, Failure>(
            scope: scope, next: { self.receive($0) },
            end: { completion in self.scope.end { self.receive(completion) } })
        scope.lane.hold { stream.subscribe(observer) }
    }

    @inlinable
    var droppedCount: Int { contents.withLock { $0.waiting.droppedCount } }

    /// Cancels the stream. What `next` returns then is the end that the stream has already had, if every value before it
    /// has been taken; otherwise `completion`.
    @inlinable
    func cancel(as completion: Completion<Failure> = .finished) {
        // The waiting values are released here, after the lock.
        let before = contents.withLock { contents in
            let before = contents
            let end = before.waiting.values.isEmpty ? before.completion ?? completion : completion
            contents = Contents(
                completion: before.waiter == nil ? end : .finished, droppedCount: before.waiting.droppedCount)
            return before
        }
        scope.cancel()
        before.waiter?.resume(returning: Self.event(for: completion))
    }

    /// The event that ends the sequence.
    @inlinable
    static func event(for completion: Completion<Failure>) -> Event {
        switch completion {
        case .finished: .success(nil)
        case .failed(let error): .failure(error)
        }
    }

    /// Waits for the next event, on the caller's actor.
    @inlinable
    func next(isolation: isolated (any Actor)?) async -> Event {
        await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    if let event = take(orWaitWith: continuation) { continuation.resume(returning: event) }
                }
            },
            onCancel: { cancel(as: .taskCancelled) },
            isolation: isolation)
    }

    /// The next event, or `nil` after storing the continuation, if any, for the event to come.
    @inlinable
    func take(orWaitWith continuation: CheckedContinuation<Event, Never>? = nil) -> Event? {
        let (event, mustResume) = contents.withLock { contents -> (Event?, Bool) in
            if let value = contents.waiting.values.popFirst() {
                return (.success(value), contents.waiting.resumesSource(policy))
            }
            if let completion = contents.completion {
                contents.completion = .finished
                return (Self.event(for: completion), false)
            }
            if let continuation { contents.waiter = continuation }
            return (nil, false)
        }
        if mustResume { scope.enter { self.scope.resume() } }
        return event
    }

    @inlinable
    func receive(_ value: Element) {
        let (waiter, admission) = contents.withLock {
            contents -> (CheckedContinuation<Event, Never>?, PendingBuffer<Element, Failure>.Admission) in
            if let waiter = contents.waiter {
                contents.waiter = nil
                return (waiter, .kept)
            }
            guard contents.completion == nil else { return (nil, .kept) }
            let admission = contents.waiting.append(value, policy)
            if case .overflown(let error) = admission { contents.completion = .failed(error) }
            return (nil, admission)
        }
        waiter?.resume(returning: .success(value))
        switch admission {
        case .kept, .dropped: break
        case .full: scope.pause()
        case .overflown: scope.close()
        }
    }

    @inlinable
    func receive(_ completion: Completion<Failure>) {
        let waiter = contents.withLock { contents in
            if contents.completion == nil { contents.completion = completion }
            defer { contents.waiter = nil }
            return contents.waiter
        }
        guard let waiter else { return }
        contents.withLock { $0.completion = .finished }
        waiter.resume(returning: Self.event(for: completion))
    }
}
