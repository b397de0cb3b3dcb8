/// What a ``Observable/timeout(_:until:on:error:)`` waits for.
public enum TimeoutPhase: Sendable {
    /// The first value or the end.
    case firstValue
    /// Each next value or the end, counted anew from the value before.
    case nextValue
    /// The end.
    case end
}

extension Observable {
    /// Ends with an error when what is waited for takes longer than `limit`; the source is stopped.
    ///
    /// - Parameters:
    ///   - limit: the longest wait, counted from the subscription.
    ///   - phase: what must come within it. Default: the end.
    ///   - scheduler: keeps the time. Default: the stream's own, else a clock of the library's.
    ///   - error: the error to end with.
    @inlinable
    public func timeout(
        _ limit: Duration, until phase: TimeoutPhase = .end, on scheduler: (any Scheduler)? = nil,
        error: @escaping @Sendable () -> Failure
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in TimeoutWatch(limit, phase, clock, error, into: observer).input }
    }
}

/// One timer a subscription: values only move the deadline, and a timer that fires before it is set anew.
@usableFromInline
final class TimeoutWatch<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let limit: Duration
    private let phase: TimeoutPhase
    private let clock: any Scheduler
    private let error: @Sendable () -> Failure
    private let observer: Observer<Element, Failure>
    private let scope: Scope
    private var deadline: Duration
    private var timer: (any Cancellable)?

    @usableFromInline
    init(
        _ limit: Duration, _ phase: TimeoutPhase, _ clock: any Scheduler,
        _ error: @escaping @Sendable () -> Failure, into observer: Observer<Element, Failure>
    ) {
        self.limit = limit
        self.phase = phase
        self.clock = clock
        self.error = error
        self.observer = observer
        scope = observer.scope.child()
        deadline = clock.now + limit
    }

    @usableFromInline
    var input: Observer<Element, Failure> {
        arm(after: limit)
        scope.onClose {
            self.timer?.cancel()
            self.timer = nil
        }
        return Observer(
            scope: scope,
            next: { value in
                switch self.phase {
                case .firstValue:
                    self.timer?.cancel()
                    self.timer = nil
                case .nextValue: self.deadline = self.clock.now + self.limit
                case .end: break
                }
                self.observer.next(value)
            },
            end: { completion in
                self.scope.close()
                self.observer.end(completion)
            })
    }

    private func arm(after delay: Duration) {
        timer = clock.schedule(after: delay) { self.scope.enter { self.check() } }
    }

    private func check() {
        guard timer != nil else { return }
        let remaining = deadline - clock.now
        guard remaining <= .zero else { return arm(after: remaining) }
        scope.close()
        observer.fail(error())
    }
}
