extension Observable {
    /// At most one value for each `window`, which begins with a value that arrives while no window is open.
    ///
    /// ```
    ///                                               -12---3-4--|
    /// throttle(4 ms)
    ///                                               -1----3----|
    /// throttle(4 ms, trailing: true)
    ///                                               -1---2---4-|
    /// throttle(4 ms, leading: false, trailing: true)
    ///                                               -----2---4-|
    /// ```
    ///
    /// - Parameters:
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - leading: whether the value that begins a window is delivered at once. Default `true`.
    ///   - trailing: whether the last undelivered value of a window is delivered when the window closes; it
    ///     begins the next window. If the source has finished by then, the end follows. Default `false`.
    @inlinable
    public func throttle(
        _ window: Duration, on scheduler: (any Scheduler)? = nil, leading: Bool = true, trailing: Bool = false
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return lift { observer in Throttling(window, clock, leading, trailing, into: observer).input }
    }
}

/// The state of one throttle.
@usableFromInline
final class Throttling<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline let window: Duration
    @usableFromInline let leading: Bool
    @usableFromInline let trailing: Bool
    /// Set while a window is open.
    @usableFromInline let timer: OperatorTimer
    @usableFromInline let observer: Observer<Element, Failure>
    @usableFromInline let scope: Scope
    @usableFromInline var pending: Element?
    @usableFromInline var hasFinished = false

    @inlinable
    init(
        _ window: Duration, _ clock: any Scheduler, _ leading: Bool, _ trailing: Bool,
        into observer: Observer<Element, Failure>
    ) {
        self.window = window
        self.leading = leading
        self.trailing = trailing
        self.observer = observer
        scope = observer.scope.child()
        // Not in `scope`: the last window may close after the end of the source.
        timer = OperatorTimer(clock, in: observer.scope)
    }

    @inlinable var input: Observer<Element, Failure> {
        observer.scope.onClose { self.pending = nil }
        return Observer(
            scope: scope,
            next: { value in
                self.pending = value
                guard !self.timer.isSet else { return }
                if self.leading { self.deliver() } else { self.openWindow() }
            },
            end: { completion in
                self.scope.close()
                self.hasFinished = true
                if case .finished = completion, self.trailing, self.pending != nil, self.timer.isSet {
                    return
                }
                self.observer.end(completion)
            })
    }

    @inlinable
    func openWindow() {
        timer.set(after: window) {
            guard self.trailing else { return }
            self.deliver()
            if self.hasFinished && self.observer.scope.isOpen { self.observer.finish() }
        }
    }

    @inlinable
    func deliver() {
        guard let value = pending else { return }
        pending = nil
        observer.next(value)
        if !hasFinished { openWindow() }
    }
}
