extension Observable where Element == Void {
    /// One value after `delay`, then the end.
    ///
    /// ```
    /// timer(3 ms)
    ///             ---(x|)
    /// ```
    ///
    /// - Parameter scheduler: the clock, which also delivers the value. Default: ``ActorScheduler/shared``.
    @inlinable
    public static func timer(
        _ delay: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(waiting: delay, on: scheduler)
    }
}

extension Observable where Element == Void, Failure == Never {
    /// One value after `delay`, then the end. Cannot fail, unless the context requires an error type.
    @inlinable
    public static func timer(
        _ delay: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(waiting: delay, on: scheduler)
    }
}

extension Observable where Element == Void {
    @inlinable
    init(waiting delay: Duration, on scheduler: any Scheduler) {
        self.init(scheduler: scheduler) { observer in
            let timer = scheduler.schedule(after: delay) {
                observer.scope.enter {
                    observer.next(())
                    if observer.scope.isOpen { observer.finish() }
                }
            }
            observer.scope.onClose { timer.cancel() }
        }
    }
}

extension Observable where Element == Int {
    /// Counts from 0, one number at the end of every `period`. Never ends.
    ///
    /// ```
    /// interval(3 ms)
    ///     ---0--1--2--3--
    /// ```
    ///
    /// The intervals do not drift. A number that is a whole period late is sent at once, and the interval
    /// continues from there. With a period of zero or less, each turn of the scheduler sends a number.
    ///
    /// - Parameter scheduler: the clock, which also delivers the values. Default: ``ActorScheduler/shared``.
    @inlinable
    public static func interval(
        _ period: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            Beat(Swift.max(period, .zero), scheduler, into: observer).start()
        }
    }
}

extension Observable where Element == Int, Failure == Never {
    /// Counts from 0, one number at the end of every `period`. Never ends, and cannot fail, unless the context requires
    /// an error type.
    @inlinable
    public static func interval(
        _ period: Duration, on scheduler: any Scheduler = ActorScheduler.shared
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            Beat(Swift.max(period, .zero), scheduler, into: observer).start()
        }
    }
}

/// The state of one interval.
@usableFromInline
final class Beat<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let period: Duration
    private let timer: OperatorTimer
    private let observer: Observer<Int, Failure>
    private var due: Duration
    private var count = 0

    @usableFromInline
    init(_ period: Duration, _ clock: any Scheduler, into observer: Observer<Int, Failure>) {
        self.period = period
        self.observer = observer
        timer = OperatorTimer(clock, in: observer.scope)
        due = clock.now + period
    }

    @usableFromInline
    func start() {
        timer.set(after: period) { self.tick() }
    }

    private func tick() {
        observer.next(count)
        guard observer.scope.isOpen else { return }
        count += 1
        let now = timer.clock.now
        due = max(due + period, now)
        timer.set(after: due - now) { self.tick() }
    }
}
