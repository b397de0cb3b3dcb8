/// The timer of an operator. It runs its work in the lane of a scope, and is cancelled when the scope closes.
@usableFromInline
package final class OperatorTimer: @unchecked Sendable {
    // Unchecked: runs only inside the scope's lane, which is serial. Debug builds check that.
    @usableFromInline package let clock: any Scheduler
    private let scope: Scope
    private var timer: (any Cancellable)?
    /// Distinguishes a timer that fired from one that was cancelled while it waited to enter the lane.
    private var number = 0

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
