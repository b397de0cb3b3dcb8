/// The common part of running combinations of several streams. It counts its inputs, which have different
/// types.
@usableFromInline
class Combination<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// Emits the combined values of the inputs.
    @usableFromInline final var emit: () -> Void = {}
    @usableFromInline final let scope: Scope
    /// The number of inputs without a value to emit.
    @usableFromInline final var missingCount = 0
    @usableFromInline final var starts: [() -> Void] = []
    @usableFromInline final let end: @Sendable (Completion<Failure>) -> Void

    @inlinable
    required init<Output>(into observer: Observer<Output, Failure>) {
        end = observer.end
        scope = observer.scope.child()
        scope.onClose {
            self.emit = {}
            self.starts = []
        }
    }

    /// Starts the inputs, one after another, with `emit` for their combined values.
    @inlinable
    final func start(_ emit: @escaping () -> Void) {
        self.emit = emit
        let starts = starts
        self.starts = []
        for start in starts { start() }
    }

    @inlinable
    final func finish(_ completion: Completion<Failure>) {
        scope.close()
        end(completion)
    }
}

extension Observable {
    /// A combination: `connect` makes its inputs, and returns the closure that emits their values.
    @inlinable
    static func combination<Core: Combination<Failure>>(
        on scheduler: (any Scheduler)?,
        _ connect: @escaping @Sendable (Core, Observer<Element, Failure>) -> () -> Void
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let core = Core(into: observer)
            core.start(connect(core, observer))
        }
    }
}
