/// All that happened in one run of a simulation: the material of its invariants.
public struct SimulationLog: Sendable {
    /// The events, in their order.
    public internal(set) var events: [SimulationEvent] = []
    /// The exchanges, in the order in which they were sent.
    public internal(set) var exchanges: [SimulatedExchange] = []
    /// The subscriptions, in the order in which they began.
    public internal(set) var subscriptions: [SimulatedSubscription] = []

    /// The faults of a given list that had no effect, because the run reached no such place or because faults of that kind
    /// do not strike there. Empty if a seed has chosen the faults.
    public internal(set) var unreachedFaults: [PlacedFault] = []

    /// The subscriptions with this name.
    public func subscriptions(_ name: String) -> [SimulatedSubscription] {
        subscriptions.filter { $0.name == name }
    }

    /// The exchanges of requests with this method and path, such as `GET /cart`.
    public func exchanges(_ request: String) -> [SimulatedExchange] {
        exchanges.filter { $0.place.hasPrefix(request + " #") }
    }

    /// The notes about a subject.
    public func notes(_ subject: String) -> [String] {
        events.compactMap { event in
            if event.subject == subject, case .note(let text) = event.kind { text } else { nil }
        }
    }
}
