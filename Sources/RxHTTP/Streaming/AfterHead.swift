package import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// Continues, once the head of the response has arrived, with the stream that `transform` makes from the
    /// head and the events after it.
    ///
    /// The rest can be subscribed to once, at any time; until then the network is paused. When the resulting
    /// stream ends, the transfer is closed.
    package func afterHead<T>(
        _ transform:
            @escaping @Sendable (
                ResponseHead, _ rest: Observable<TransferEvent, NetworkError>
            ) throws(NetworkError) -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        lift { observer in HeadSplit(into: observer, transform).input }
    }
}

/// One running ``Observable/afterHead(_:)``.
private final class HeadSplit<T: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let observer: Observer<T, NetworkError>
    private let transform:
        @Sendable (ResponseHead, Observable<TransferEvent, NetworkError>) throws(NetworkError) -> Observable<
            T, NetworkError
        >
    private let source: Scope
    private let result: Scope
    private var hasHead = false
    private var rest: Observer<TransferEvent, NetworkError>?
    /// Events that wait: for a subscriber of the rest, for the end of its pause, or for the event before.
    private var waiting = FIFO<TransferEvent>()
    private var completion: Completion<NetworkError>?
    private var isSourcePaused = false
    /// Whether an event is being sent to the rest's subscriber in another lane; the next one follows once it
    /// has arrived.
    private var isSending = false

    /// The lane of this state.
    private var lane: Lane { observer.scope.lane }

    init(
        into observer: Observer<T, NetworkError>,
        _ transform:
            @escaping @Sendable (
                ResponseHead, Observable<TransferEvent, NetworkError>
            ) throws(NetworkError) -> Observable<T, NetworkError>
    ) {
        self.observer = observer
        self.transform = transform
        source = observer.scope.child()
        result = observer.scope.child()
    }

    var input: Observer<TransferEvent, NetworkError> {
        observer.scope.onClose { self.rest = nil }
        return Observer(scope: source, next: { self.receive($0) }, end: { self.receive($0) })
    }

    private func receive(_ event: TransferEvent) {
        if hasHead { return pass(event) }
        guard case .head(let head) = event else { return }
        hasHead = true
        pauseSource()
        let rest = Observable<TransferEvent, NetworkError>(scheduler: observer.scope.lane.scheduler) {
            observer in
            self.start(observer)
        }
        let stream: Observable<T, NetworkError>
        do throws(NetworkError) { stream = try transform(head, rest) } catch { return end(.failed(error)) }
        stream.subscribe(Observer(scope: result, next: observer.next, end: { self.end($0) }))
    }

    private func end(_ completion: Completion<NetworkError>) {
        source.close()
        result.close()
        observer.end(completion)
    }

    private func start(_ observer: Observer<TransferEvent, NetworkError>) {
        let scope = observer.scope
        scope.onResume { self.enterLane(from: scope) { self.drain() } }
        scope.onClose {
            self.enterLane(from: scope) {
                self.rest = nil
                self.source.close()
            }
        }
        guard scope.lane === lane else {
            return lane.enter {
                guard scope.isOpen else { return self.source.close() }
                self.rest = observer
                self.drain()
            }
        }
        rest = observer
        scope.perform { self.drain() }
    }

    /// Runs `work` in this lane; at once if the scope of the rest's subscriber is in it as well.
    private func enterLane(from taker: Scope, _ work: @escaping @Sendable () -> Void) {
        if taker.lane === lane { work() } else { lane.enter(work) }
    }

    private func send(_ event: TransferEvent, to rest: Observer<TransferEvent, NetworkError>) {
        guard rest.scope.lane !== lane else { return rest.next(event) }
        isSending = true
        rest.scope.lane.enter {
            if rest.scope.isOpen { rest.next(event) }
            self.lane.enter {
                self.isSending = false
                self.drain()
            }
        }
    }

    private func pass(_ event: TransferEvent) {
        guard let rest, waiting.isEmpty, !rest.scope.isPaused, !isSending else {
            waiting.append(event)
            return pauseSource()
        }
        send(event, to: rest)
        if rest.scope.isPaused || isSending { pauseSource() }
    }

    private func receive(_ completion: Completion<NetworkError>) {
        source.close()
        guard hasHead else { return end(completion) }
        self.completion = completion
        drain()
    }

    /// Delivers the waiting events, then resumes the network.
    private func drain() {
        while let rest, rest.scope.isOpen, !rest.scope.isPaused, !isSending,
            let event = waiting.popFirst()
        {
            send(event, to: rest)
        }
        guard let rest, rest.scope.isOpen, waiting.isEmpty, !rest.scope.isPaused, !isSending else { return }
        if let completion {
            self.completion = nil
            guard rest.scope.lane !== lane else { return rest.end(completion) }
            return rest.scope.enter { rest.end(completion) }
        }
        guard isSourcePaused else { return }
        isSourcePaused = false
        source.resume()
    }

    private func pauseSource() {
        guard !isSourcePaused, source.isOpen else { return }
        isSourcePaused = true
        source.pause()
    }
}
