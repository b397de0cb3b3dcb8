import RxHTTP
import RxLite
import Synchronization

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
        let chance = Chance.Source(SeededRandom(seed.mixed(with: "chance")))
        return Chance.$source.withValue(chance) {
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

    // MARK: Processes and servers

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
