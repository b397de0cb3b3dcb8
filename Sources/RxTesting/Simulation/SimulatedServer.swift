import RxHTTP
import Synchronization

/// A server of a simulation: how it answers, and whether it runs.
final class SimulatedServer: Sendable {
    let name: String
    let origin: Origin
    let answer: @Sendable (SimulatedRequest) -> ScriptedTransport.Reply
    /// The number of outages now; they may overlap.
    private let outages = Mutex(0)

    init(
        name: String, origin: Origin,
        _ answer: @escaping @Sendable (SimulatedRequest) -> ScriptedTransport.Reply
    ) {
        self.name = name
        self.origin = origin
        self.answer = answer
    }

    var isOff: Bool { outages.withLock { $0 > 0 } }

    func turnOff() { outages.withLock { $0 += 1 } }

    func turnOn() { outages.withLock { $0 -= 1 } }
}
