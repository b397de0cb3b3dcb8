public import FoundationEssentials
import RxHTTP
import RxLite
public import RxTesting
import Synchronization

/// One run of a client against simulated servers, in virtual time, with faults.
///
/// A scenario makes the servers and processes, and says what must hold afterwards:
///
/// ```swift
/// @Sendable func orders(_ simulation: Simulation) {
///     let shop = Shop()
///     simulation.server("https://shop.test") { request in shop.answer(request) }
///     simulation.process("app") { process in
///         let configuration = ClientConfiguration(baseURL: "https://shop.test")
///         let client = Client(configuration: configuration, transport: process.transport)
///         process.subscribe("order", to: client.post("/orders", ["item": 1]))
///     }
///     simulation.invariant("one order") { _ in shop.orderCount <= 1 ? [] : ["\(shop.orderCount) orders"] }
/// }
///
/// @Test func ordersSurvive() async throws {
///     try await Simulation.explore(seeds: 1...200, name: "orders", orders)
/// }
/// ```
///
/// The seed chooses the faults, and every random number that the client uses. The same seed, or the same seed with the
/// same list of faults, gives the same run: every event at the same time, on every machine with the same version of Swift,
/// whose standard library draws the numbers. That is so as long as the scenario itself uses no other clock, thread or
/// random source, and does not depend on the order of a `Set`.
///
/// A simulation runs once, in the task that created it. Servers, processes and invariants are closures that it calls one
/// at a time.
public final class Simulation: Sendable {
    /// The set-up and the invariants of a simulation.
    public typealias Scenario = @Sendable (Simulation) throws -> Void

    struct Invariant: Sendable {
        let name: String
        let violations: @Sendable (SimulationLog) -> [String]
    }

    /// A condition that some run of an exploration must reach.
    struct Milestone: Sendable {
        let name: String
        let isReached: @Sendable (SimulationLog) -> Bool
    }

    struct Contents {
        var servers: [SimulatedServer] = []
        var processes: [SimulatedProcess] = []
        var starts: [String: @Sendable (SimulatedProcess) -> Void] = [:]
        var invariants: [Invariant] = []
        var milestones: [Milestone] = []
        var log = SimulationLog()
        /// The number of places of each name so far.
        var counts: [String: Int] = [:]
        /// The running exchanges by their index in the log.
        var calls: [Int: SimulatedCall] = [:]
        /// The schedulers of the killed processes, whose pending work runs when the simulation is over.
        var killed: [ProcessScheduler] = []
        var violations: [SimulationViolation] = []
    }

    /// The seed.
    public let seed: UInt64
    /// The virtual time of servers and processes. A run begins at zero.
    public let clock: VirtualScheduler
    /// The files that all processes share. They outlive each process.
    public let files: MemoryFileSystem
    let options: SimulationOptions
    let plan: FaultPlan
    let wallClock = WallClock()
    let contents = Mutex(Contents())

    /// Creates a run whose faults follow from its seed.
    ///
    /// - Parameters:
    ///   - seed: chooses the faults and all other random numbers.
    ///   - options: which faults there are, and how long.
    public convenience init(seed: UInt64, options: SimulationOptions = SimulationOptions()) {
        self.init(seed: seed, FaultPlan(seed: seed, options), options)
    }

    /// Creates a run with the given faults and no others, such as those that an exploration has found.
    ///
    /// - Parameters:
    ///   - seed: chooses all random numbers but the faults.
    ///   - faults: the faults. Those whose place is never reached have no effect.
    ///   - options: how long the run takes; its kinds of faults have no effect.
    public convenience init(
        seed: UInt64, faults: [PlacedFault], options: SimulationOptions = SimulationOptions()
    ) {
        self.init(seed: seed, FaultPlan(faults), options)
    }

    private init(seed: UInt64, _ plan: FaultPlan, _ options: SimulationOptions) {
        self.seed = seed
        self.options = options
        self.plan = plan
        clock = VirtualScheduler(startingAt: options.origin, stepLimit: options.stepLimit)
        files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
    }

    // MARK: - The scenario

    /// Adds a server.
    ///
    /// - Parameters:
    ///   - url: its URL; only scheme, host and port count.
    ///   - answer: acts on a request and says how to respond. State of the server is the closure's.
    public func server(
        _ url: String, answer: @escaping @Sendable (SimulatedRequest) -> ScriptedTransport.Reply
    ) {
        guard let origin = URL(string: url).flatMap(Origin.init) else {
            return violate("scenario", "\(url) is not the URL of a server")
        }
        let server = SimulatedServer(name: url, origin: origin, answer)
        contents.withLock { $0.servers.append(server) }
        for fault in plan.faults(at: url, of: .server, time: clock.now) {
            guard case .outage(let time, let length) = fault else { continue }
            after(time) { self.turnOff(server, for: length, fault) }
        }
    }

    /// Adds a process, and starts it when the run begins.
    ///
    /// - Parameters:
    ///   - name: its name. Default `app`.
    ///   - start: begins the work of the process, with new clients and sessions; called again after each restart. Stores
    ///     that are made outside of it, and ``SimulatedProcess/files``, outlive a restart.
    public func process(
        _ name: String = "app", start: @escaping @Sendable (SimulatedProcess) -> Void
    ) {
        contents.withLock { $0.starts[name] = start }
        after(.zero) { self.start(name) }
        for fault in plan.faults(at: name, of: .process, time: clock.now) {
            guard case .restart(let time) = fault else { continue }
            after(time) {
                self.note(name, .fault(fault))
                self.kill(name)
                self.start(name)
            }
        }
    }

    /// Adds a condition that must hold at the end of the run.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - violations: the violations in a run; empty if it holds.
    public func invariant(_ name: String, violations: @escaping @Sendable (SimulationLog) -> [String]) {
        contents.withLock { $0.invariants.append(Invariant(name: name, violations: violations)) }
    }

    /// Adds a condition that must hold at the end of at least one run of an exploration, such as that a request was retried:
    /// invariants prove little in runs that never get to where they could be violated.
    ///
    /// ``Exploration/unreached`` names the conditions that have held in no run.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - isReached: whether it holds in a run.
    public func sometimes(_ name: String, isReached: @escaping @Sendable (SimulationLog) -> Bool) {
        contents.withLock { $0.milestones.append(Milestone(name: name, isReached: isReached)) }
    }

    /// Writes a note into the log, for invariants and diagrams.
    public func note(_ subject: String, _ text: String) { note(subject, .note(text)) }

    /// Whether an event that the scenario defines happens now, such as the expiry of a token: false, unless the seed or the
    /// list of faults says otherwise.
    public func happens(_ event: String) -> Bool {
        let place = nextPlace(event)
        let faults = plan.faults(at: place, of: .event, time: clock.now)
        for fault in faults { note(place, .fault(fault)) }
        return !faults.isEmpty
    }

    // MARK: - The log

    func note(_ subject: String, _ kind: SimulationEvent.Kind) {
        let event = SimulationEvent(time: clock.now, subject: subject, kind: kind)
        contents.withLock { $0.log.events.append(event) }
    }

    func violate(_ name: String, _ text: String) {
        contents.withLock { $0.violations.append(SimulationViolation(name: name, text: text)) }
    }

    /// The name with the number of its next occurrence. Tests name places in this form (``PlacedFault``), and
    /// `SimulationLog` finds exchanges and rows by the text before ` #`.
    func nextPlace(_ name: String) -> String {
        contents.withLock { contents in
            contents.counts[name, default: 0] += 1
            return "\(name) #\(contents.counts[name, default: 0])"
        }
    }

    func after(_ time: Duration, _ work: @escaping @Sendable () -> Void) {
        _ = clock.schedule(after: time, work)
    }
}

/// The limits of a simulation.
public struct SimulationOptions: Sendable {
    /// The kinds of faults that a seed may choose. Default all.
    public var faults: Set<Fault.Kind>
    /// The time in which a seed's faults begin. Default 60 s.
    public var faultTime: Duration
    /// The time that follows without new faults, in which the client can recover. Then everything that still runs is
    /// cancelled. Default 10 min.
    public var calmTime: Duration
    /// The wall clock at the beginning. Default 2000-01-01 00:00:00 UTC.
    public var origin: Date
    /// The most pieces of work in one run; more are a violation. Default 100,000.
    public var stepLimit: Int

    /// Creates options.
    public init(
        faults: Set<Fault.Kind> = Set(Fault.Kind.allCases), faultTime: Duration = .seconds(60),
        calmTime: Duration = .seconds(600), origin: Date = Date(timeIntervalSince1970: 946_684_800),
        stepLimit: Int = 100_000
    ) {
        self.faults = faults
        self.faultTime = faultTime
        self.calmTime = calmTime
        self.origin = origin
        self.stepLimit = stepLimit
    }

    /// The Swift expression of the options that matter for a run with given faults; `nil` if all are the defaults. The
    /// compiler does not compare it with `init`.
    var source: String? {
        let standard = SimulationOptions()
        var arguments: [String] = []
        if faultTime != standard.faultTime { arguments.append("faultTime: \(faultTime.source)") }
        if calmTime != standard.calmTime { arguments.append("calmTime: \(calmTime.source)") }
        if origin != standard.origin {
            arguments.append("origin: Date(timeIntervalSince1970: \(origin.timeIntervalSince1970))")
        }
        if stepLimit != standard.stepLimit { arguments.append("stepLimit: \(stepLimit)") }
        return arguments.isEmpty ? nil : "SimulationOptions(\(arguments.joined(separator: ", ")))"
    }
}

extension Simulation {
    /// The result of a run.
    struct Outcome: Sendable {
        var log: SimulationLog
        var violations: [SimulationViolation]
        var faults: [PlacedFault]
        /// The conditions of ``Simulation/sometimes(_:isReached:)``, with whether they hold.
        var milestones: [String: Bool]
        var options: SimulationOptions
    }

    /// Runs the scenario.
    ///
    /// - Returns: all that happened.
    /// - Throws: the violated invariants.
    @discardableResult
    public func run(_ scenario: Scenario) throws(SimulationFailure) -> SimulationLog {
        let outcome = outcome(of: scenario)
        guard outcome.violations.isEmpty else {
            throw SimulationFailure(name: "scenario", seed: seed, outcome)
        }
        return outcome.log
    }

    func outcome(of scenario: Scenario) -> Outcome {
        let random = RandomSource.Simulated(SeededRandom(seed.mixed(with: "chance")))
        return RandomSource.$simulated.withValue(random) {
            do {
                try scenario(self)
                jumpClocks()
                try clock.advance(to: options.faultTime + options.calmTime)
                contents.withLock { $0.processes }.forEach { $0.stop() }
                try clock.run()
            } catch {
                violate(error is VirtualTimeError ? "virtual time" : "scenario", "\(error)")
            }
            return end()
        }
    }

    private func jumpClocks() {
        // Tests name the place; see the table of ``PlacedFault``.
        for fault in plan.faults(at: "clock", of: .clock, time: .zero) {
            guard case .clockJump(let time, let change) = fault else { continue }
            after(time) {
                self.note("clock", .fault(fault))
                self.wallClock.jump(by: change)
            }
        }
    }

    /// Checks the invariants, and releases the closures, which usually refer to the simulation.
    private func end() -> Outcome {
        contents.withLock { $0.log.unreachedFaults = plan.unreached }
        let log = contents.withLock { $0.log }
        for exchange in log.exchanges where exchange.outcome == .running {
            violate("nothing is left", "\(exchange.place) is still running")
        }
        for invariant in contents.withLock({ $0.invariants }) {
            for text in invariant.violations(log) { violate(invariant.name, text) }
        }
        for process in contents.withLock({ $0.processes }) { process.kill(isLogged: false) }
        // Released outside of the lock, because the closures may own objects that write notes when they go.
        let former = contents.withLock { contents in
            defer { contents = Contents() }
            return contents
        }
        let milestones = former.milestones.map { ($0.name, $0.isReached(log)) }
        for scheduler in former.killed { scheduler.release() }
        // If the run ended early; the work refers to the simulation, which owns the clock.
        clock.removeAll()
        return Outcome(
            log: log, violations: former.violations, faults: plan.faults,
            milestones: Dictionary(milestones, uniquingKeysWith: { $0 || $1 }), options: options)
    }

    // MARK: - Processes and servers

    func start(_ name: String) {
        guard let start = contents.withLock({ $0.starts[name] }) else { return }
        let process = SimulatedProcess(name, in: self)
        contents.withLock { $0.processes.append(process) }
        note(name, .started)
        start(process)
    }

    func kill(_ name: String) {
        let processes = contents.withLock { contents in
            defer { contents.processes.removeAll { $0.name == name } }
            return contents.processes.filter { $0.name == name }
        }
        for process in processes { process.kill(isLogged: true) }
    }

    func server(of request: Request) -> SimulatedServer? {
        guard let origin = Origin(request.url) else { return nil }
        return contents.withLock { $0.servers.last { $0.origin == origin } }
    }

    /// Ends all connections of a server, and refuses others for a time.
    func turnOff(_ server: SimulatedServer, for length: Duration, _ fault: Fault) {
        note(server.name, .fault(fault))
        server.turnOff()
        let calls = contents.withLock { $0.calls.sorted { $0.key < $1.key }.map(\.value) }
        for call in calls where call.server === server { call.lose() }
        after(length) { server.turnOn() }
    }
}
