/// The event that ``Observable/timeout(_:until:on:error:)`` waits for.
public enum TimeoutPhase: Sendable {
    /// The first value or the end.
    case firstValue
    /// Each next value or the end, measured from the previous value.
    case nextValue
    /// The end.
    case end
}

extension Observable {
    /// Ends with an error if an event takes longer than `limit`; the source is then stopped.
    ///
    /// ```
    ///                                 --1------2-|
    /// timeout(7 ms)
    ///                                 --1----#
    /// timeout(4 ms, until: .nextValue)
    ///                                 --1---#
    /// timeout(4 ms, until: .firstValue)
    ///                                 --1------2-|
    /// ```
    ///
    /// - Parameters:
    ///   - limit: the longest wait, counted from the subscription or, for ``TimeoutPhase/nextValue``, also
    ///     from each value.
    ///   - phase: the event that must arrive within the limit. Default: the end.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - error: returns the error to end with.
    @inlinable
    public func timeout(
        _ limit: Duration, until phase: TimeoutPhase = .end, on scheduler: (any Scheduler)? = nil,
        error: @escaping @Sendable () -> Failure
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in TimeoutWatch(limit, phase, clock, error, into: observer).input }
    }
}

/// The state of one timeout, with one timer. Values only move the deadline; a timer that fires before it is
/// set again.
@usableFromInline
final class TimeoutWatch<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let limit: Duration
    @usableFromInline let phase: TimeoutPhase
    @usableFromInline let timer: OperatorTimer
    @usableFromInline let error: @Sendable () -> Failure
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var deadline: Duration

    @inlinable
    init(
        _ limit: Duration, _ phase: TimeoutPhase, _ clock: any Scheduler,
        _ error: @escaping @Sendable () -> Failure, into observer: Observer<Element, Failure>
    ) {
        self.limit = limit
        self.phase = phase
        self.error = error
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
        deadline = clock.now + limit
    }

    @inlinable var input: Observer<Element, Failure> {
        timer.set(after: limit) { self.check() }
        return Observer(
            scope: scope,
            next: { value in
                switch self.phase {
                case .firstValue: self.timer.cancel()
                case .nextValue: self.deadline = self.timer.clock.now + self.limit
                case .end: break
                }
                self.observer.next(value)
            },
            end: { completion in
                self.scope.close()
                self.observer.end(completion)
            })
    }

    @usableFromInline
    func check() {
        let remaining = deadline - timer.clock.now
        guard remaining <= .zero else { return timer.set(after: remaining) { self.check() } }
        // The source may ask for the reason when it is stopped.
        let error = error()
        scope.close()
        observer.fail(error)
    }
}
