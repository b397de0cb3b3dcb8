import FoundationEssentials
public import RxHTTP
public import RxLite
import RxTesting
import Synchronization

/// A process of a simulation, from its start to its end or until it is killed.
///
/// Its scheduler, transport and files are those of this process: after a kill, nothing that it has begun continues.
public final class SimulatedProcess: Sendable {
    /// The name.
    public let name: String
    /// The transport to the simulation's servers.
    public let transport: any Transport
    /// The files, which outlive the process.
    public let files: any FileSystem
    /// The scheduler. Its `currentDate` is that of the wall clock, which may jump.
    public var scheduler: any Scheduler { ownScheduler }

    let simulation: Simulation
    let ownScheduler: ProcessScheduler
    private let disk: MemoryFileSystem
    private let subscribers = Mutex<[SimulatedSubscriber]>([])

    init(_ name: String, in simulation: Simulation) {
        self.name = name
        self.simulation = simulation
        ownScheduler = ProcessScheduler(simulation.clock, simulation.wallClock)
        disk = MemoryFileSystem(simulation.files, on: ownScheduler)
        files = disk
        transport = SimulatedTransport(simulation, process: name, disk, on: ownScheduler)
    }

    /// Whether the process has not been killed.
    var isAlive: Bool { ownScheduler.isAlive }

    /// Subscribes to a stream, and records its events. A fault may cancel the subscription, or pause it after each value.
    ///
    /// - Parameters:
    ///   - name: the name of the subscription in the log.
    ///   - stream: the stream.
    ///   - describing: the text of a value in the log. Default: its description, which must be the same in each run.
    ///   - onNext: takes each value.
    ///   - onEnd: called when the stream finishes or fails, with whether it finished.
    /// - Returns: cancels the subscription.
    @discardableResult
    public func subscribe<Element, Failure: Error>(
        _ name: String, to stream: Observable<Element, Failure>,
        describing: @escaping @Sendable (Element) -> String = { "\($0)" },
        onNext: @escaping @Sendable (Element) -> Void = { _ in },
        onEnd: @escaping @Sendable (_ isFinished: Bool) -> Void = { _ in }
    ) -> any Cancellable {
        let subscriber = SimulatedSubscriber(name, in: self)
        guard isAlive else { return subscriber }
        subscribers.withLock { $0.append(subscriber) }
        subscriber.start(stream, describing: describing, onNext: onNext, onEnd: onEnd)
        return subscriber
    }

    /// Runs `work` later, unless the process is killed before.
    public func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
        _ = ownScheduler.schedule(after: delay) { [weak self] in
            if self?.isAlive == true { work() }
        }
    }

    /// Cancels all subscriptions, at the end of the run.
    func stop() {
        for subscriber in subscribers.withLock({ $0 }) { subscriber.cutOff() }
    }

    /// Ends the process at once.
    func kill(isLogged: Bool) {
        simulation.contents.withLock { $0.killed.append(ownScheduler) }
        let calls = simulation.contents.withLock { $0.calls.sorted { $0.key < $1.key }.map(\.value) }
        for call in calls where call.scheduler === ownScheduler { call.kill(isLogged: isLogged) }
        ownScheduler.kill()
        let subscribers = subscribers.withLock { subscribers in
            defer { subscribers = [] }
            return subscribers
        }
        for subscriber in subscribers { subscriber.kill(isLogged: isLogged) }
        disk.releaseLocks()
    }
}

/// The scheduler of one simulated process: the clock of the simulation, with a wall clock that can jump. Work that is
/// pending when the process is killed does not run before the simulation is over. Then it runs, since streams without
/// an owner that could cancel them, such as the refresh of a stored response, would stay in memory.
final class ProcessScheduler: DatedScheduler {
    private struct Contents {
        var isAlive = true
        var lastNumber = 0
        var timers: [Int: (timer: any Cancellable, work: @Sendable () -> Void)] = [:]
        /// The work left by a killed process; `nil` once the simulation is over.
        var remains: [@Sendable () -> Void]? = []
    }

    private let clock: VirtualScheduler
    private let wallClock: WallClock
    private let contents = Mutex(Contents())

    init(_ clock: VirtualScheduler, _ wallClock: WallClock) {
        self.clock = clock
        self.wallClock = wallClock
    }

    var now: Duration { clock.now }
    var date: Date { clock.date.addingTimeInterval(wallClock.offset / .seconds(1)) }
    /// Whether the process has not been killed.
    var isAlive: Bool { contents.withLock { $0.isAlive } }
    var isCurrent: Bool { clock.isCurrent }

    func schedule(_ work: @escaping @Sendable () -> Void) { _ = schedule(after: .zero, work) }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        let number = contents.withLock { contents -> Int? in
            guard contents.isAlive else { return nil }
            contents.lastNumber += 1
            return contents.lastNumber
        }
        guard let number else { return Timer(number: 0, scheduler: nil) }
        let timer = clock.schedule(after: delay) { [weak self] in
            if let self, self.take(number) != nil { work() }
        }
        contents.withLock { $0.timers[number] = (timer, work) }
        return Timer(number: number, scheduler: self)
    }

    /// Stops all work. What is pending waits for ``release()``; nothing new is accepted.
    func kill() {
        let timers = contents.withLock { contents in
            contents.isAlive = false
            defer { contents.timers = [:] }
            let timers = contents.timers.sorted { $0.key < $1.key }.map(\.value)
            contents.remains? += timers.map(\.work)
            return timers
        }
        for timer in timers { timer.timer.cancel() }
    }

    /// Runs `work` when the simulation is over.
    func whenOver(_ work: @escaping @Sendable () -> Void) {
        let isOver = contents.withLock { contents in
            contents.remains?.append(work)
            return contents.remains == nil
        }
        if isOver { work() }
    }

    /// Runs the work left by the killed process, once.
    func release() {
        let remains = contents.withLock { $0.remains.take() } ?? []
        for work in remains { work() }
    }

    private func take(_ number: Int) -> (any Cancellable)? {
        contents.withLock { $0.timers.removeValue(forKey: number) }?.timer
    }

    private final class Timer: Cancellable {
        private let number: Int
        private weak let scheduler: ProcessScheduler?

        init(number: Int, scheduler: ProcessScheduler?) {
            self.number = number
            self.scheduler = scheduler
        }

        func cancel() { scheduler?.take(number)?.cancel() }
    }
}

/// The difference between a simulation's wall clock and its virtual time.
final class WallClock: Sendable {
    private let shift = Mutex(Duration.zero)

    var offset: Duration { shift.withLock { $0 } }

    func jump(by change: Duration) { shift.withLock { $0 += change } }
}
