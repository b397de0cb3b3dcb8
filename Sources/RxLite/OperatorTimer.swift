/// The one timer of an operator: runs its work in the lane of a scope, and is called off when the scope
/// closes.
@usableFromInline
final class OperatorTimer: @unchecked Sendable {
    // Unchecked: runs only inside the scope's lane, which is serial. Debug builds check that.
    @usableFromInline let clock: any Scheduler
    private let scope: Scope
    private var timer: (any Cancellable)?
    /// Tells a timer that fired from one that was called off while it waited to enter the lane.
    private var number = 0

    @usableFromInline
    init(_ clock: any Scheduler, in scope: Scope) {
        self.clock = clock
        self.scope = scope
        scope.onClose { self.cancel() }
    }

    /// Whether it has been set, and has neither gone off nor been called off.
    @usableFromInline var isSet: Bool { timer != nil }

    /// Runs `work` after `delay`, instead of what it was set for before.
    @usableFromInline
    func set(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
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
    func cancel() {
        scope.lane.assertInside()
        timer?.cancel()
        timer = nil
        number += 1
    }
}
