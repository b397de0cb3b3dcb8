/// The place and time of work: one serial context with a clock.
///
/// Work on one scheduler runs one piece at a time, in the order in which it becomes due. Streams use a
/// scheduler for two purposes: ``Observable/observe(on:buffering:countingDropped:)`` delivers on it, and
/// operators that measure time (``Observable/delay(_:on:)``, ``Observable/timeout(_:until:on:error:)`` …) use
/// its clock, so that under a virtual scheduler hours pass in microseconds.
public protocol Scheduler: AnyObject, Sendable {
    /// Monotonic time since an origin that the scheduler chooses.
    var now: Duration { get }

    /// Whether this scheduler is currently running the caller. A scheduler that has ended, and runs work inside
    /// ``schedule(_:)``, must be current for every caller: otherwise a stream schedules its work again without end.
    var isCurrent: Bool { get }

    /// Runs `work` as soon as possible, after everything scheduled before it, and not inside this call unless
    /// the scheduler has ended.
    ///
    /// Thread-safe.
    func schedule(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` once, `delay` from now. A delay of zero or less is due at once, but still not inside this
    /// call.
    ///
    /// Thread-safe. Cancelling the result drops the work if it has not begun.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable
}

/// The timer of an operator. It runs its work in the lane of a scope, and is cancelled when the scope closes.
@usableFromInline
package final class OperatorTimer: @unchecked Sendable {
    // Unchecked: runs only inside the scope's lane, which is serial. Debug builds check that.
    @usableFromInline package let clock: any Scheduler
    private let scope: Scope
    private var timer: (any Cancellable)?
    /// Distinguishes a timer that fired from one that was cancelled while it waited to enter the lane.
    private var number = 0

    /// Only from inside the lane of `scope`.
    @usableFromInline
    package init(_ clock: any Scheduler, in scope: Scope) {
        self.clock = clock
        self.scope = scope
        scope.onClose { self.cancel() }
    }

    /// Whether the timer is set, and has neither fired nor been cancelled.
    @usableFromInline var isSet: Bool { timer != nil }

    /// Runs `work` after `delay`, instead of the work set before.
    @usableFromInline
    package func set(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        cancel()
        guard scope.isOpen else { return }
        let number = number
        timer = clock.schedule(after: delay) {
            self.scope.enter {
                guard self.number == number else { return }
                self.timer = nil
                work()
            }
        }
    }

    @usableFromInline
    package func cancel() {
        scope.lane.assertInside()
        timer?.cancel()
        timer = nil
        number += 1
    }
}

/// The steps left in one turn of a lane's scheduler, for loops that could continue without end. A lane without a
/// scheduler gives way to no other work, so its turns do not end.
@usableFromInline
struct StepBudget {
    @usableFromInline var left: Int

    /// - Parameter length: the number of steps. Default: ``Lane/turnLength``.
    @inlinable
    init(in lane: Lane, of length: Int = Lane.turnLength) {
        left = lane.scheduler == nil ? .max : length
    }

    /// Takes a step; false if none is left.
    @inlinable
    mutating func step() -> Bool {
        left -= 1
        return left >= 0
    }
}

extension Scope {
    /// Runs `work` in another turn of the lane's scheduler, if the scope is still open by then. Without a scheduler, as
    /// ``enter(_:)`` does.
    @inlinable
    package func inNextTurn(_ work: @escaping @Sendable () -> Void) {
        guard let scheduler = lane.scheduler else { return enter(work) }
        scheduler.schedule { self.enter(work) }
    }
}
