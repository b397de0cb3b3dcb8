public import Synchronization

extension Observable {
    /// Waits for one value, the first. The stream is cancelled with it.
    ///
    /// ```swift
    /// let cart = try await client.get("/cart").decode(Cart.self).value()
    /// ```
    ///
    /// The stream is started by the caller's actor, and the value is returned there. Cancelling the task cancels the
    /// stream; a task that has been cancelled before does not start it.
    ///
    /// Streams whose `Failure` is `NetworkError` have a `value()` that throws nothing else.
    ///
    /// - Throws: the error that the stream fails with, `CancellationError` when the task is cancelled, or ``NoValue``
    ///   if the stream finishes without a value.
    nonisolated(nonsending)
        public func value() async throws -> Element
    {
        if let value = try await firstValue() { return value }
        try Task.checkCancellation()
        throw NoValue()
    }

    /// The first value; `nil` if the stream finishes without one, or when the task is cancelled. RxHTTP's `value()`,
    /// in ResponseGatherer.swift, is built on it too; change both.
    nonisolated(nonsending)
        package func firstValue() async throws(Failure) -> Element?
    {
        if Task.isCancelled { return nil }
        return try await take(1).values(buffering: .unbounded).makeAsyncIterator().next()
    }
}

/// The error of `value()` for a stream that finishes without a value.
public struct NoValue: Error, Hashable {
    /// Creates the error.
    public init() {}
}

extension NoValue: CustomStringConvertible {
    /// One line.
    public var description: String { "the stream finished without a value" }
}

extension Observable: AsyncSequence {
    /// Starts the stream for a `for try await` loop.
    ///
    /// ```swift
    /// for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { show(goods) }
    /// ```
    ///
    /// Each loop is a new subscription. When 64 values wait for the loop the stream is paused, until 16 are left;
    /// sources that cannot pause (signals, properties, timers) are buffered without limit. ``values(buffering:)`` has
    /// other policies. Leaving the loop, or cancelling its task, cancels the stream.
    ///
    /// A loop whose task is cancelled throws: `NetworkError` with the code `cancelled`, `CancellationError` where the
    /// stream fails with `any Error`, or the error type's ``CancellationReporting/taskCancelled``. A stream that cannot
    /// fail has nothing to throw: its loop ends as it would after the last value, and `Task.isCancelled` distinguishes
    /// the two.
    @inlinable
    public func makeAsyncIterator() -> Values<Element, Failure>.Iterator {
        values(buffering: .suspend(high: 64, low: 16)).makeAsyncIterator()
    }
}

extension Observable {
    /// The stream for a `for try await` loop that does not pause it. A loop over the stream itself pauses it, see
    /// ``makeAsyncIterator()``; otherwise the two behave alike.
    ///
    /// ```swift
    /// for await count in counts.values(buffering: .latest(1)) { print(count) }
    /// ```
    ///
    /// For a loop that must neither miss a value nor fall far behind, let the stream fail:
    ///
    /// ```swift
    /// ticks.setFailureType().values(buffering: .fail(above: 256, with: TooSlow()))
    /// ```
    ///
    /// - Parameter policy: the treatment of values that arrive faster than the loop takes them.
    @inlinable
    public func values(buffering policy: BufferPolicy<Failure>) -> Values<Element, Failure> {
        Values(stream: self, policy: policy)
    }
}

/// A stream as an asynchronous sequence, with the stream's own error type.
public struct Values<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let policy: BufferPolicy<Failure>

    @inlinable
    init(stream: Observable<Element, Failure>, policy: BufferPolicy<Failure>) {
        self.stream = stream
        self.policy = policy
    }

    /// Subscribes.
    @inlinable
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: ValuesBuffer(stream, policy))
    }

    /// Takes the values of one subscription.
    public final class Iterator: AsyncIteratorProtocol {
        @usableFromInline let buffer: ValuesBuffer<Element, Failure>

        @inlinable
        init(buffer: ValuesBuffer<Element, Failure>) { self.buffer = buffer }

        @inlinable
        deinit { buffer.cancel() }

        /// How many values the buffer had no room for so far: those that ``BufferPolicy/latest(_:)`` or
        /// ``BufferPolicy/oldest(_:)`` dropped, or the one that ended the stream.
        @inlinable public var droppedCount: Int { buffer.droppedCount }

        /// The next value; `nil` after the end.
        ///
        /// - Throws: the error that the stream fails with; when the task has been cancelled, the error type's own for
        ///   that (``CancellationReporting/taskCancelled``: `NetworkError` with the code `cancelled`), or
        ///   `CancellationError` where `Failure` is `any Error`. Where `Failure` is `Never`, or an error type without
        ///   such an error, a cancelled task gets `nil`.
        @inlinable
        public func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(Failure) -> Element? {
            // A value that is there is taken without a change of threads, and without the cost of waiting.
            if !Task.isCancelled, let event = buffer.take() { return try event.get() }
            return try await buffer.next(isolation: isolation).get()
        }
    }
}

/// Values between a stream that pushes and a task that pulls.
@usableFromInline
final class ValuesBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline typealias Event = Result<Element?, Failure>

    @usableFromInline
    struct Contents {
        @usableFromInline var waiting: PendingBuffer<Element, Failure>
        /// The end, which follows the waiting values; `finished` once it has been taken, so that an error
        /// is thrown only once.
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
        // The stream holds the buffer, not the iterator: discarding the iterator cancels it.
        let observer = Observer<Element, Failure>(
            scope: scope, next: { self.receive($0) },
            end: { completion in self.scope.end { self.receive(completion) } })
        scope.lane.hold { stream.subscribe(observer) }
    }

    @inlinable
    var droppedCount: Int { contents.withLock { $0.waiting.droppedCount } }

    /// Cancels the stream. What `next` returns then is the end that the stream has already had, if every value before
    /// it has been taken; otherwise `completion`.
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
