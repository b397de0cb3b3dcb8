import Synchronization

/// Decides which faults strike a run, by its seed or by a list, and records the decisions.
///
/// A decision depends on the seed and the name of its place only, not on the decisions before it, so that a run from which
/// a fault has been removed still meets the others.
final class FaultPlan: Sendable {
    private enum Choice {
        case seed(FaultMix)
        case list([String: [Fault]])
    }

    private let choice: Choice
    private let decisions = Mutex<[PlacedFault]>([])

    /// Creates a plan that follows a seed.
    init(seed: UInt64, _ options: SimulationOptions) { choice = .seed(FaultMix(seed: seed, options)) }

    /// Creates a plan that follows a list.
    init(_ faults: [PlacedFault]) {
        choice = .list(Dictionary(grouping: faults, by: \.place).mapValues { $0.map(\.fault) })
    }

    /// The faults that the places reached so far have been given, in the order of the decisions.
    var faults: [PlacedFault] { decisions.withLock { $0 } }

    /// The faults of the list whose places have not been reached.
    var unreached: [PlacedFault] {
        guard case .list(let list) = choice else { return [] }
        let reached = Set(faults)
        return list.sorted { $0.key < $1.key }
            .flatMap { place, faults in faults.map { PlacedFault(place: place, fault: $0) } }
            .filter { !reached.contains($0) }
    }

    /// The faults at a place that is reached at `time`; called once for each place.
    func faults(at place: String, of kind: FaultMix.Place, time: Duration) -> [Fault] {
        let faults =
            switch choice {
            case .seed(let mix): mix.faults(at: place, of: kind, time: time)
            case .list(let list): (list[place] ?? []).filter { kind.kinds.contains($0.kind) }
            }
        if !faults.isEmpty {
            decisions.withLock { $0 += faults.map { PlacedFault(place: place, fault: $0) } }
        }
        return faults
    }
}
