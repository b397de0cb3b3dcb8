extension Observable {
    /// Each value and the end, after `delay`. An error is not delayed, and overtakes waiting values.
    ///
    /// ```
    ///             -1--2-|
    /// delay(3 ms)
    ///             ----1--2-|
    /// ```
    ///
    /// All delayed values are kept (``BufferPolicy/unbounded``). While the subscriber is paused they and the end wait,
    /// and the source is paused as well.
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func delay(_ delay: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in DelayLine(delay, clock, into: observer).input }
    }
}

/// Delayed events in order of due time, with one timer for the first of them.
@usableFromInline
final class DelayLine<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let delay: Duration
    private let clock: any Scheduler
    private let observer: Observer<Element, Failure>
    private let scope: Scope
    private var line = FIFO<(due: Duration, value: Element?)>()
    private var timer: (any Cancellable)?
    /// Whether an event is due and the subscriber is paused.
    private var isHeldUp = false

    @usableFromInline
    init(_ delay: Duration, _ clock: any Scheduler, into observer: Observer<Element, Failure>) {
        self.delay = delay
        self.clock = clock
        self.observer = observer
        scope = observer.scope.child()
    }

    @usableFromInline
    var input: Observer<Element, Failure> {
        observer.scope.onClose {
            self.timer?.cancel()
            self.line.removeAll()
        }
        observer.scope.onResume { if self.isHeldUp { self.deliver() } }
        return Observer(
            scope: scope, next: { self.append($0) },
            end: { completion in
                self.scope.close()
                guard case .failed = completion else { return self.append(nil) }
                self.observer.end(completion)
            })
    }

    /// `nil` is the end.
    private func append(_ value: Element?) {
        line.append((clock.now + delay, value))
        if line.count == 1 && timer == nil { arm(after: delay) }
    }

    private func arm(after delay: Duration) {
        timer = clock.schedule(after: delay) { self.observer.scope.enter { self.deliver() } }
    }

    /// Keeps the timer that has fired until it sets the next, so that values appended meanwhile set none.
    private func deliver() {
        isHeldUp = false
        var budget = StepBudget(in: observer.scope.lane)
        while let first = line.first, first.due <= clock.now {
            guard budget.step() else { return arm(after: .zero) }
            if observer.scope.isPaused { return isHeldUp = true }
            _ = line.popFirst()
            guard let value = first.value else { return observer.finish() }
            observer.next(value)
            guard observer.scope.isOpen else { return }
        }
        timer = nil
        if let first = line.first { arm(after: first.due - clock.now) }
    }
}
