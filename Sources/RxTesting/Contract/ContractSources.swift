import RxLite
import Synchronization

/// The sources that the checker applies operators to. Each counts its subscriptions, its teardowns and its
/// living values.
extension ContractChecker {
    typealias Source = Observable<ContractElement, any Error>

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
            ("source in flight", inFlight(3, .finished, probe, clock), true),
            ("failing source in flight", inFlight(3, .failed(ContractFailure()), probe, clock), true),
            ("silent source", Observable { probe.open($0.scope) }, true),
        ]
    }

    /// Sends during the subscription, or as soon as its scheduler allows, and waits while it is paused.
    static func immediate(
        _ count: Int, _ completion: Completion<any Error>, _ probe: ContractProbe,
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
    static func inFlight(
        _ count: Int, _ completion: Completion<any Error>, _ probe: ContractProbe,
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
        _ count: Int, _ completion: Completion<any Error>, _ probe: ContractProbe,
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

/// A value whose life is counted. The ``ContractChecker`` sends such values through the operator under test.
public final class ContractElement: Sendable, Comparable, Hashable, CustomStringConvertible {
    /// Counts up from 0 in each subscription of a source.
    public let number: Int
    private let probe: ContractProbe

    init(_ number: Int, _ probe: ContractProbe) {
        self.number = number
        self.probe = probe
        probe.born()
    }

    deinit { probe.died() }

    /// Whether the numbers are the same.
    public static func == (one: ContractElement, other: ContractElement) -> Bool {
        one.number == other.number
    }

    /// Whether one number is less than the other.
    public static func < (one: ContractElement, other: ContractElement) -> Bool { one.number < other.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// The number.
    public var description: String { "\(number)" }
}

/// The error of the ``ContractChecker``'s failing sources.
struct ContractFailure: Error {}

/// Counts living and torn-down objects, and collects the violations of one situation.
final class ContractProbe: Sendable {
    private struct Contents {
        var violations: [ContractViolation] = []
        var values = 0
        var ends: [String] = []
        var isClosed = false
        var sentBeforeClose = 0
        var alive = 0
        var opened = 0
        var torndown = 0
        var sent = 0
    }

    let situation: String
    private let contents = Mutex(Contents())
    private let isInside = Atomic<Bool>(false)

    init(_ situation: String) { self.situation = situation }

    var violations: [ContractViolation] { contents.withLock { $0.violations } }
    var valueCount: Int { contents.withLock { $0.values } }
    var alive: Int { contents.withLock { $0.alive } }
    var sent: Int { contents.withLock { $0.sent } }
    var sentAfterClose: Int { contents.withLock { $0.isClosed ? $0.sent - $0.sentBeforeClose : 0 } }
    /// The number of sources that were started.
    var opened: Int { contents.withLock { $0.opened } }
    var hasEnded: Bool { contents.withLock { !$0.ends.isEmpty } }
    /// Values and end, for comparing two runs.
    var outcome: String { contents.withLock { "\($0.values) values, \($0.ends)" } }
    /// The number of sources that were started and have not been torn down.
    var notTornDownCount: Int { contents.withLock { $0.opened - $0.torndown } }

    func report(_ rule: ContractViolation.Rule, _ detail: String) {
        let violation = ContractViolation(rule: rule, situation: situation, detail: detail)
        contents.withLock { $0.violations.append(violation) }
    }

    // The consumer's side

    /// Runs `body` as one event of the consumer.
    func event(_ body: () -> Void) {
        if isInside.exchange(true, ordering: .acquiringAndReleasing) {
            report(.serial, "an event began while another was being delivered")
        }
        body()
        isInside.store(false, ordering: .releasing)
    }

    func value() {
        let (ended, closed) = contents.withLock { contents in
            contents.values += 1
            return (!contents.ends.isEmpty, contents.isClosed)
        }
        if ended { report(.nothingAfterEnd, "a value came after the end") }
        if closed { report(.silentAfterCancel, "a value came after the cancel") }
    }

    func end(_ completion: String) {
        let (count, closed) = contents.withLock { contents in
            contents.ends.append(completion)
            return (contents.ends.count, contents.isClosed)
        }
        if count > 1 { report(.oneEnd, "end number \(count): \(completion)") }
        if closed { report(.silentAfterCancel, "an end came after the cancel: \(completion)") }
    }

    /// No event may arrive from here on.
    func close() {
        contents.withLock { contents in
            if !contents.isClosed { contents.sentBeforeClose = contents.sent }
            contents.isClosed = true
        }
    }

    // The source's side

    /// Records that a source has started in `scope`, and must be torn down once.
    func open(_ scope: Scope) {
        contents.withLock { $0.opened += 1 }
        let hasRun = OnceFlag()
        scope.onClose {
            self.contents.withLock { $0.torndown += 1 }
            if hasRun.exchange() { self.report(.teardownOnce, "a teardown ran twice") }
        }
    }

    func send() { contents.withLock { $0.sent += 1 } }

    func born() { contents.withLock { $0.alive += 1 } }

    func died() { contents.withLock { $0.alive -= 1 } }
}

/// A flag that is set once.
private final class OnceFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    func exchange() -> Bool { flag.exchange(true, ordering: .relaxed) }
}

/// A scheduler that differs from a clock but has its time: its work runs when the clock is advanced, and
/// nothing else runs on it.
final class Elsewhere: Scheduler {
    private let clock: VirtualScheduler
    private let isRunning = Atomic<Bool>(false)

    init(_ clock: VirtualScheduler) { self.clock = clock }

    var now: Duration { clock.now }

    var isCurrent: Bool { isRunning.load(ordering: .relaxed) && clock.isCurrent }

    func schedule(_ work: @escaping @Sendable () -> Void) {
        clock.schedule { self.run(work) }
    }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        clock.schedule(after: delay) { self.run(work) }
    }

    private func run(_ work: () -> Void) {
        isRunning.store(true, ordering: .relaxed)
        work()
        isRunning.store(false, ordering: .relaxed)
    }
}
