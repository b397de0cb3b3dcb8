extension Observable {
    /// Starts the stream again after an error when another stream sends, which `notices` makes from the
    /// errors.
    ///
    /// ```
    ///                                  --1#
    /// retry(when: { _ in ----x---| })
    ///                                  --1------1-|     the notices begin with the first error
    /// ```
    ///
    /// ```swift
    /// load.retry(when: { errors in
    ///     errors.flatMap { error in reachability.filter { $0 }.take(1) }
    /// })
    /// ```
    ///
    /// Each notice after an error starts the stream again; the failed attempt is closed by then. A notice
    /// during an attempt changes nothing. The stream ends when an attempt finishes, or like the notifier,
    /// regardless of a running attempt and even if the notifier's end follows a notice immediately. `notices`
    /// is called with the first error of each subscription.
    @inlinable
    public func retry<Notice, E>(
        when notices: @escaping @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>
    ) -> Observable<Element, E> {
        Observable<Element, E>(scheduler: scheduler) { observer in
            NoticedRetrying(self, notices, into: observer).start()
        }
    }
}

/// The state of one retry with notices.
@usableFromInline
final class NoticedRetrying<Element: Sendable, Failure: Error, Notice: Sendable, E: Error>:
    @unchecked Sendable
{
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let stream: Observable<Element, Failure>
    private let notices: @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>
    private let observer: Observer<Element, E>
    /// The scope of the whole operator; closed with the end of the notices or of an attempt.
    private let scope: Scope
    /// Sending from inside the lane queues there, so errors that lead to each other do not nest.
    private var errors: Signal<Failure>?
    private var isWaiting = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>,
        _ notices: @escaping @Sendable (Observable<Failure, Never>) -> Observable<Notice, E>,
        into observer: Observer<Element, E>
    ) {
        self.stream = stream
        self.notices = notices
        self.observer = observer
        scope = observer.scope.child()
    }

    /// Begins an attempt.
    @usableFromInline
    func start() {
        let attemptScope = scope.child()
        stream.subscribe(
            Observer(scope: attemptScope, as: observer) { completion in
                attemptScope.close()
                switch completion {
                case .finished: self.end(.finished)
                case .failed(let error): self.receive(error)
                }
            })
    }

    private func receive(_ error: Failure) {
        isWaiting = true
        if let errors { return errors.send(error) }
        let errors = Signal<Failure>()
        self.errors = errors
        notices(errors.observable).subscribe(
            Observer(scope: scope.child(), next: { _ in self.receiveNotice() }, end: { self.end($0) }))
        errors.send(error)
    }

    /// Queues the attempt, so that an end that follows the notice immediately comes first.
    private func receiveNotice() {
        guard isWaiting else { return }
        isWaiting = false
        scope.lane.enqueue { if self.scope.isOpen { self.start() } }
    }

    private func end(_ completion: Completion<E>) {
        scope.close()
        observer.end(completion)
    }
}
