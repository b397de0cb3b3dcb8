extension Observable {
    /// Each value that is followed by no other for `pause`, after that time. A waiting value is delivered
    /// with the end, and dropped at an error.
    ///
    /// ```
    ///               -1--2-3-----4-|
    /// debounce(3 ms)
    ///               ---------3----(4|)
    /// ```
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func debounce(_ pause: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in Debouncing(pause, clock, into: observer).input }
    }
}

/// One running debounce. Values only move the deadline; a timer that fires before it is set again.
@usableFromInline
final class Debouncing<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let pause: Duration
    @usableFromInline let timer: OperatorTimer
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var pending: Element?
    @usableFromInline var deadline: Duration = .zero

    @inlinable
    init(_ pause: Duration, _ clock: any Scheduler, into observer: Observer<Element, Failure>) {
        self.pause = pause
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
    }

    @inlinable var input: Observer<Element, Failure> {
        observer.scope.onClose { self.pending = nil }
        return Observer(
            scope: scope,
            next: { value in
                self.pending = value
                self.deadline = self.timer.clock.now + self.pause
                if !self.timer.isSet { self.timer.set(after: self.pause) { self.check() } }
            },
            end: { completion in
                self.scope.close()
                if case .finished = completion { self.deliver() }
                if self.observer.scope.isOpen { self.observer.end(completion) }
            })
    }

    @inlinable
    func check() {
        let remaining = deadline - timer.clock.now
        guard remaining <= .zero else { return timer.set(after: remaining) { self.check() } }
        deliver()
    }

    @inlinable
    func deliver() {
        guard let value = pending else { return }
        pending = nil
        observer.next(value)
    }
}
