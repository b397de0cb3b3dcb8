extension Observable {
    /// Starts the finished stream again when another stream sends, which `notices` makes from the numbers of
    /// finished runs.
    ///
    /// ```
    ///                                   --1|
    /// repeat(when: { _ in ----x---| })
    ///                                   --1------1-|    the notices begin with the first end
    /// ```
    ///
    /// ```swift
    /// status.repeat(when: { runs in runs.flatMap { _ in foreground.take(1) } })
    /// ```
    ///
    /// Each notice after an end starts the stream again. The finished run is closed by then, and while the
    /// subscriber is paused no further run begins. A notice during a run changes nothing. When the notices
    /// have ended, the current run is the last. An error of either stream ends the result.
    ///
    /// - Parameter notices: called at the first end of each subscription, with a stream of the number of
    ///   finished runs: 1, 2, …
    @inlinable
    public func `repeat`<Notice>(
        when notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            NoticedRepeating(self, notices, into: observer).start()
        }
    }

    /// Starts the finished stream again when a stream that cannot fail sends.
    @inlinable
    @_disfavoredOverload
    public func `repeat`<Notice>(
        when notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Never>
    ) -> Observable {
        self.repeat(when: { notices($0).setFailureType(to: Failure.self) })
    }
}

/// The state of one repeat with notices.
@usableFromInline
final class NoticedRepeating<Element: Sendable, Failure: Error, Notice: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    private enum Phase {
        case running
        /// Waiting for a notice.
        case waiting
        /// A notice has arrived, and the next run is about to begin.
        case due
    }

    private let stream: Observable<Element, Failure>
    private let notices: @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>
    private let observer: Observer<Element, Failure>
    /// The scope of the whole operator.
    private let scope: Scope
    /// Sending from inside the lane queues there, so runs that finish at once do not nest.
    private var finishedRuns: Signal<Int>?
    private var count = 0
    private var phase = Phase.running
    private var haveNoticesEnded = false
    private var isStarting = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>,
        _ notices: @escaping @Sendable (Observable<Int, Never>) -> Observable<Notice, Failure>,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.notices = notices
        self.observer = observer
        scope = observer.scope.child()
    }

    /// Begins the first run, even if paused, because the source may be able to wait itself.
    @usableFromInline
    func start() {
        scope.onResume { self.proceed() }
        isStarting = true
        run()
        isStarting = false
        proceed()
    }

    /// Begins the due run in a loop, not from within the end of the previous one.
    private func proceed() {
        guard !isStarting else { return }
        isStarting = true
        while phase == .due && scope.isOpen && !scope.isPaused { run() }
        isStarting = false
    }

    private func run() {
        phase = .running
        let runScope = scope.child()
        stream.subscribe(
            Observer(scope: runScope, as: observer) { completion in
                runScope.close()
                guard case .finished = completion, !self.haveNoticesEnded else { return self.end(completion) }
                self.awaitNotice()
            })
    }

    private func awaitNotice() {
        phase = .waiting
        count += 1
        if let finishedRuns { return finishedRuns.send(count) }
        let finishedRuns = Signal<Int>()
        self.finishedRuns = finishedRuns
        let noticeScope = scope.child()
        notices(finishedRuns.observable).subscribe(
            Observer(
                scope: noticeScope, next: { _ in self.receiveNotice() },
                end: { completion in
                    noticeScope.close()
                    self.receiveEndOfNotices(completion)
                }))
        finishedRuns.send(count)
    }

    private func receiveNotice() {
        guard phase == .waiting else { return }
        phase = .due
        proceed()
    }

    private func receiveEndOfNotices(_ completion: Completion<Failure>) {
        haveNoticesEnded = true
        if case .finished = completion, phase != .waiting { return }
        end(completion)
    }

    private func end(_ completion: Completion<Failure>) {
        scope.close()
        observer.end(completion)
    }
}
