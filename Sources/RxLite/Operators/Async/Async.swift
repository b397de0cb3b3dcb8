import Synchronization

extension Observable {
    /// The value that an asynchronous closure returns, then the end; or the error it throws. Each subscription runs it
    /// again, in a new task.
    ///
    /// ```swift
    /// let goods = Observable<Goods, StoreError>.async { () throws(StoreError) in try await store.load() }
    /// ```
    ///
    /// ```
    /// async { work }
    ///                ----(1|)     when work has returned
    /// ```
    ///
    /// Cancelling the stream cancels the task; its later result or error is discarded. While the subscriber is paused
    /// the value, or the error, waits. It arrives on the thread that the closure ends on, unless the stream is part of
    /// one with a scheduler.
    @inlinable
    public static func async(
        _ work: @escaping @Sendable () async throws(Failure) -> Element
    ) -> Observable {
        Observable { observer in
            guard observer.scope.isOpen else { return }
            // Streams that `work` subscribes to are for this subscription; see ``Lane/isUpstream(of:)``.
            observer.scope.lane.serve {
                let task = Task {
                    let result: Result<Element, Failure>
                    do throws(Failure) { result = .success(try await work()) } catch {
                        result = .failure(error)
                    }
                    observer.scope.enter { observer.emitOnly(result) }
                }
                observer.scope.onClose { task.cancel() }
            }
        }
    }
}

extension Observable {
    /// The elements of an asynchronous sequence, then its end or error. Each subscription iterates again, in a new
    /// task.
    ///
    /// ```swift
    /// let bytes: AsyncThrowingStream<UInt8, any Error> = openedFile()
    /// let chunks = Observable(bytes).buffer(count: 4096)
    /// ```
    ///
    /// ```
    /// Observable(elements)
    ///                      --1---2-3--|     as they come
    /// ```
    ///
    /// The next element is requested when the previous one has been delivered and the subscription is not paused. An
    /// element, end or error that arrives during a pause waits until the subscription resumes. Cancelling the stream
    /// cancels the task.
    public init<Elements: AsyncSequence & Sendable>(_ elements: Elements)
    where Elements.Element == Element, Elements.Failure == Failure {
        self.init { observer in
            guard observer.scope.isOpen else { return }
            AsyncPump(observer).start(elements)
        }
    }
}

/// One running iteration: the task asks for an element each time the lane lets it.
private final class AsyncPump<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: `isPulling` is touched only from inside the subscription's lane, which is serial.
    private let observer: Observer<Element, Failure>
    private let gate = Gate()
    /// The task may ask, is asking, or has something that is not delivered yet.
    private var isPulling = false

    init(_ observer: Observer<Element, Failure>) { self.observer = observer }

    func start(_ elements: some AsyncSequence<Element, Failure> & Sendable) {
        observer.scope.lane.serve {
            let task = Task { await self.pull(elements) }
            observer.scope.onClose { [gate] in
                task.cancel()
                gate.close()
            }
        }
        observer.scope.onResume { self.letPull() }
        letPull()
    }

    private func pull(_ elements: some AsyncSequence<Element, Failure>) async {
        let scope = observer.scope
        var iterator = elements.makeAsyncIterator()
        do throws(Failure) {
            while await gate.pass() {
                // Paused since it was let through: it waits for its turn again.
                if scope.isPaused {
                    scope.enter { self.pulled() }
                    continue
                }
                guard let element = try await iterator.next(isolation: nil) else {
                    return deliver { self.observer.finish() }
                }
                deliver {
                    self.observer.next(element)
                    self.pulled()
                }
            }
        } catch {
            deliver { self.observer.fail(error) }
        }
    }

    /// Delivers an event, which waits if the pause came while it was awaited.
    private func deliver(_ event: @escaping @Sendable () -> Void) {
        observer.scope.enter { self.observer.scope.whenRunning(event) }
    }

    private func pulled() {
        isPulling = false
        letPull()
    }

    private func letPull() {
        guard !isPulling, observer.scope.isOpen, !observer.scope.isPaused else { return }
        isPulling = true
        gate.open()
    }
}

/// Lets one task through each time it is opened.
private final class Gate: Sendable {
    private enum State {
        case shut
        case open
        case awaited(CheckedContinuation<Bool, Never>)
        case closed
    }

    private let state = Mutex(State.shut)

    func open() { change(to: .open, resumingWith: true) }

    func close() { change(to: .closed, resumingWith: false) }

    /// Waits until it is open, and shuts it again; `false` if it has been closed for good.
    func pass() async -> Bool {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state -> Bool? in
                switch state {
                case .open:
                    state = .shut
                    return true
                case .closed: return false
                case .shut, .awaited:
                    state = .awaited(continuation)
                    return nil
                }
            }
            if let isOpen { continuation.resume(returning: isOpen) }
        }
    }

    private func change(to newState: State, resumingWith isOpen: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if case .closed = state { return nil }
            guard case .awaited(let waiter) = state else {
                state = newState
                return nil
            }
            state = isOpen ? .shut : .closed
            return waiter
        }
        waiter?.resume(returning: isOpen)
    }
}
