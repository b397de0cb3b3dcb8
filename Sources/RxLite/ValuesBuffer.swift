public import Synchronization

/// Values between a stream that pushes and a task that pulls.
@usableFromInline
final class ValuesBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Event = Result<Element?, Failure>

    @usableFromInline
    struct Contents {
        @usableFromInline var values = FIFO<Element>()
        @usableFromInline var completion: Completion<Failure>?
        @usableFromInline var waiter: CheckedContinuation<Event, Never>?
        @usableFromInline var isStreamPaused = false
        @usableFromInline var droppedCount = 0

        @inlinable
        init(completion: Completion<Failure>? = nil, droppedCount: Int = 0) {
            self.completion = completion
            self.droppedCount = droppedCount
        }
    }

    @usableFromInline let policy: BufferPolicy
    /// What a value that finds `policy`'s limit reached ends the stream with, instead of being dropped.
    @usableFromInline let overflow: Failure?
    @usableFromInline let scope: Scope
    @usableFromInline let contents = Mutex(Contents())

    @inlinable
    init(_ stream: Observable<Element, Failure>, _ policy: BufferPolicy, overflow: Failure?) {
        self.policy = policy
        self.overflow = overflow
        scope = Scope(lane: Lane(scheduler: stream.scheduler))
        // The stream holds the buffer, not the iterator: letting go of the iterator cancels it.
        let observer = Observer<Element, Failure>(
            scope: scope, next: { self.receive($0) },
            end: { completion in self.scope.end { self.receive(completion) } })
        scope.lane.hold { stream.subscribe(observer) }
    }

    @inlinable
    var droppedCount: Int { contents.withLock { $0.droppedCount } }

    @inlinable
    func cancel() {
        // What was waiting is let go of here, after the lock.
        let before = contents.withLock { contents in
            let before = contents
            contents = Contents(completion: .finished, droppedCount: contents.droppedCount)
            return before
        }
        scope.cancel()
        before.waiter?.resume(returning: .success(nil))
    }

    /// Waits for what is next. Runs where its caller does.
    @inlinable
    func next(isolation: isolated (any Actor)?) async -> Event {
        await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    if let event = take(orWaitWith: continuation) { continuation.resume(returning: event) }
                }
            },
            onCancel: { cancel() },
            isolation: isolation)
    }

    /// What is next, or `nil` after keeping the continuation, if any, for what will be.
    @inlinable
    func take(orWaitWith continuation: CheckedContinuation<Event, Never>? = nil) -> Event? {
        let (event, mustResume) = contents.withLock { contents -> (Event?, Bool) in
            if let value = contents.values.popFirst() {
                guard contents.isStreamPaused, case .suspend(_, let low) = policy,
                    contents.values.count <= max(low, 0)
                else { return (.success(value), false) }
                contents.isStreamPaused = false
                return (.success(value), true)
            }
            switch contents.completion {
            case .finished: return (.success(nil), false)
            case .failed(let error):
                contents.completion = .finished
                return (.failure(error), false)
            case nil:
                if let continuation { contents.waiter = continuation }
                return (nil, false)
            }
        }
        if mustResume { scope.enter { self.scope.resume() } }
        return event
    }

    @inlinable
    func receive(_ value: Element) {
        // A dropped value is let go of here, after the lock.
        let (waiter, mustPause, hasOverflown, _) = contents.withLock {
            contents -> (CheckedContinuation<Event, Never>?, Bool, Bool, Element?) in
            if let waiter = contents.waiter {
                contents.waiter = nil
                return (waiter, false, false, nil)
            }
            guard contents.completion == nil else { return (nil, false, false, nil) }
            switch policy {
            case .latest(let limit):
                contents.values.append(value)
                if contents.values.count > limit {
                    contents.droppedCount += 1
                    return (nil, false, false, contents.values.popFirst())
                }
            case .oldest(let limit):
                if contents.values.count < limit {
                    contents.values.append(value)
                } else {
                    contents.droppedCount += 1
                    contents.completion = overflow.map { .failed($0) }
                    return (nil, false, overflow != nil, nil)
                }
            case .unbounded:
                contents.values.append(value)
            case .suspend(let high, _):
                contents.values.append(value)
                if !contents.isStreamPaused && contents.values.count >= high {
                    contents.isStreamPaused = true
                    return (nil, true, false, nil)
                }
            }
            return (nil, false, false, nil)
        }
        waiter?.resume(returning: .success(value))
        if mustPause { scope.pause() }
        if hasOverflown { scope.close() }
    }

    @inlinable
    func receive(_ completion: Completion<Failure>) {
        let waiter = contents.withLock { contents in
            if contents.completion == nil { contents.completion = completion }
            defer { contents.waiter = nil }
            return contents.waiter
        }
        guard let waiter else { return }
        switch completion {
        case .finished: waiter.resume(returning: .success(nil))
        case .failed(let error):
            contents.withLock { $0.completion = .finished }
            waiter.resume(returning: .failure(error))
        }
    }
}
