import RxLite
import Synchronization

/// The sources that the checker applies operators to. Each counts its subscriptions, its teardowns and its
/// living values.
extension ContractChecker {
    typealias Source = Observable<ContractElement, ContractFailure>

    /// The patient sources wait while they are paused.
    static func sources(_ probe: ContractProbe, _ clock: VirtualScheduler) -> [(
        name: String, source: Source, isPatient: Bool
    )] {
        [
            ("empty source", immediate(0, .finished, probe), true),
            ("source of 1", immediate(1, .finished, probe), true),
            ("source of 5", immediate(5, .finished, probe), true),
            ("source of 40", immediate(40, .finished, probe), true),
            ("failing source", immediate(3, .failed(ContractFailure()), probe), true),
            ("timed source", timed(6, .finished, probe, clock), false),
            ("timed failing source", timed(3, .failed(ContractFailure()), probe, clock), false),
            ("source in flight", flying(3, .finished, probe, clock), true),
            ("failing source in flight", flying(3, .failed(ContractFailure()), probe, clock), true),
            ("silent source", Observable { probe.open($0.scope) }, true),
        ]
    }

    /// Sends during the subscription, or as soon as its scheduler allows, and waits while it is paused.
    static func immediate(
        _ count: Int, _ completion: Completion<ContractFailure>, _ probe: ContractProbe,
        on scheduler: (any Scheduler)? = nil
    ) -> Source {
        Observable(scheduler: scheduler) { observer in
            probe.open(observer.scope)
            let next = Counter()
            let isRunning = Counter()
            let run: @Sendable () -> Void = {
                guard isRunning.value == 0 else { return }
                isRunning.add()
                while observer.scope.isOpen && !observer.scope.isPaused {
                    guard next.value < count else {
                        observer.end(completion)
                        break
                    }
                    probe.send()
                    observer.next(ContractElement(next.add(), probe))
                }
                isRunning.reset()
            }
            observer.scope.onResume(run)
            observer.scope.perform(run)
        }
    }

    /// The time that an event of a source in flight is under way. Its multiples differ from the times of usual timers.
    static var flight: Duration { .milliseconds(1100) }

    /// Sends as a source does whose events come from another thread: the next event is under way once the previous one
    /// has been delivered, also during a pause, and waits if it arrives in one.
    static func flying(
        _ count: Int, _ completion: Completion<ContractFailure>, _ probe: ContractProbe,
        _ clock: VirtualScheduler
    ) -> Source {
        Observable(scheduler: clock) { observer in
            guard observer.scope.isOpen else { return }
            probe.open(observer.scope)
            let timer = OperatorTimer(clock, in: observer.scope)
            @Sendable func begin(_ number: Int) {
                timer.set(after: flight) {
                    observer.scope.whenRunning {
                        guard number < count else { return observer.end(completion) }
                        probe.send()
                        observer.next(ContractElement(number, probe))
                        if observer.scope.isOpen { begin(number + 1) }
                    }
                }
            }
            begin(0)
        }
    }

    /// Sends one value a second, paused or not.
    static func timed(
        _ count: Int, _ completion: Completion<ContractFailure>, _ probe: ContractProbe,
        _ clock: VirtualScheduler
    ) -> Source {
        Observable(scheduler: clock) { observer in
            guard observer.scope.isOpen else { return }
            probe.open(observer.scope)
            let timers = (0...count).map { number in
                clock.schedule(after: .seconds(number + 1)) {
                    observer.scope.enter {
                        if number == count {
                            observer.end(completion)
                        } else {
                            probe.send()
                            observer.next(ContractElement(number, probe))
                        }
                    }
                }
            }
            observer.scope.onClose { for timer in timers { timer.cancel() } }
        }
    }
}

/// A number, changed from inside one subscription's lane and read from anywhere.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .relaxed) }

    /// Adds one; returns the previous value.
    @discardableResult
    func add() -> Int { number.add(1, ordering: .relaxed).oldValue }

    func set(_ value: Int) { number.store(value, ordering: .relaxed) }

    func reset() { number.store(0, ordering: .relaxed) }
}
