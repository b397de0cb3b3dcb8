public import RxHTTP
public import RxLite
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
    /// The scheduler. Its dates are those of the wall clock, which may jump.
    public var scheduler: any DatedScheduler { ownScheduler }

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
