import Synchronization

/// Something that goes wrong in a simulation. Times count from the beginning of the run unless they say otherwise.
public enum Fault: Hashable, Sendable {
    /// The moments at which a connection can break.
    public enum Phase: Hashable, Sendable {
        /// No connection: not a byte of the request is sent.
        case beforeSending
        /// While the request is sent; the server does not act on it.
        case duringUpload
        /// The server has acted on the request, but no byte of its response arrives.
        case beforeHead
        /// After the head and this share of the body, in percent.
        case inBody(percent: Int)
        /// This long after the response has begun, if it has not ended by then: for streams and WebSockets.
        case open(for: Duration)
    }

    /// The request reaches the server later than usual, so that others overtake it.
    case requestDelay(Duration)
    /// The response arrives later than usual.
    case responseDelay(Duration)
    /// The connection breaks.
    case reset(Phase)
    /// The response ends after this share of its body, in percent.
    case truncation(percent: Int)
    /// A gateway answers with this status, and the server does not see the request. `retryAfter` is the value of
    /// `Retry-After`, in seconds.
    case status(Int, retryAfter: Int? = nil)
    /// An event that the scenario defines: ``Simulation/happens(_:)`` returns true.
    case event
    /// The wall clock is set forward or back; monotonic time is not affected.
    case clockJump(at: Duration, by: Duration)
    /// A server accepts no connection for a time, and its open ones break.
    case outage(at: Duration, for: Duration)
    /// A process is killed and started again: files and other stores stay, memory is lost.
    case restart(at: Duration)
    /// A subscriber cancels, this long after it has subscribed.
    case cancel(after: Duration)
    /// A subscriber pauses for a time after each value.
    case slowReader(Duration)

    /// The kinds of faults.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        // ``FaultMix`` draws in this order: in another one, each seed gives other faults.
        case delay, reset, truncation, status, event, clockJump, outage, restart, cancel, slowReader
    }

    /// The kind.
    public var kind: Kind {
        switch self {
        case .requestDelay, .responseDelay: .delay
        case .reset: .reset
        case .truncation: .truncation
        case .status: .status
        case .event: .event
        case .clockJump: .clockJump
        case .outage: .outage
        case .restart: .restart
        case .cancel: .cancel
        case .slowReader: .slowReader
        }
    }
}

extension Fault: CustomStringConvertible {
    /// The Swift expression of the fault, for tests.
    public var description: String {
        // The compiler does not compare the texts with the declarations of the cases.
        switch self {
        case .requestDelay(let delay): ".requestDelay(\(delay.source))"
        case .responseDelay(let delay): ".responseDelay(\(delay.source))"
        case .reset(.beforeSending): ".reset(.beforeSending)"
        case .reset(.duringUpload): ".reset(.duringUpload)"
        case .reset(.beforeHead): ".reset(.beforeHead)"
        case .reset(.inBody(let percent)): ".reset(.inBody(percent: \(percent)))"
        case .reset(.open(let time)): ".reset(.open(for: \(time.source)))"
        case .truncation(let percent): ".truncation(percent: \(percent))"
        case .status(let code, nil): ".status(\(code))"
        case .status(let code, let seconds?): ".status(\(code), retryAfter: \(seconds))"
        case .event: ".event"
        case .clockJump(let time, let change): ".clockJump(at: \(time.source), by: \(change.source))"
        case .outage(let time, let length): ".outage(at: \(time.source), for: \(length.source))"
        case .restart(let time): ".restart(at: \(time.source))"
        case .cancel(let delay): ".cancel(after: \(delay.source))"
        case .slowReader(let pause): ".slowReader(\(pause.source))"
        }
    }
}

extension Duration {
    /// The Swift expression of the duration, in whole milliseconds, as ``FaultMix`` draws them.
    var source: String {
        let count = milliseconds
        return count % 1000 == 0 ? ".seconds(\(count / 1000))" : ".milliseconds(\(count))"
    }

    /// The whole milliseconds.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// A fault and the place where it strikes. A seed chooses a list of them; the same list gives the same run.
///
/// The place is the name of something in the simulation:
///
/// | Place | Faults |
/// |---|---|
/// | `GET /cart #2`: the second such request | delays, resets, truncation, status |
/// | `cart #1`: the first subscription of that name | `cancel`, `slowReader` |
/// | `token expires #3`: the third call of ``Simulation/happens(_:)`` with that name | `event` |
/// | the name of a process | `restart` |
/// | the URL of a server | `outage` |
/// | `clock` | `clockJump` |
public struct PlacedFault: Hashable, Sendable, CustomStringConvertible {
    /// The place.
    public var place: String
    /// The fault.
    public var fault: Fault

    /// A fault at a place.
    public static func at(_ place: String, _ fault: Fault) -> PlacedFault {
        PlacedFault(place: place, fault: fault)
    }

    /// The Swift expression of the fault, for tests.
    public var description: String { ".at(\(place.debugDescription), \(fault))" }
}

extension Fault {
    /// Variants of this fault with rounder numbers, the roundest first, for the search for the simplest failure.
    var simpler: [Fault] {
        switch self {
        case .requestDelay(let delay): delay.rounder.map { .requestDelay($0) }
        case .responseDelay(let delay): delay.rounder.map { .responseDelay($0) }
        case .reset(.inBody(let percent)): Self.rounder(percent).map { .reset(.inBody(percent: $0)) }
        case .reset(.open(let time)): time.rounder.map { .reset(.open(for: $0)) }
        case .truncation(let percent): Self.rounder(percent).map { .truncation(percent: $0) }
        case .status(let code, _?): [.status(code)]
        case .clockJump(let time, let change):
            change.rounder.map { .clockJump(at: time, by: $0) }
                + time.rounder.map { .clockJump(at: $0, by: change) }
        case .outage(let time, let length):
            length.rounder.map { .outage(at: time, for: $0) }
                + time.rounder.map { .outage(at: $0, for: length) }
        case .restart(let time): time.rounder.map { .restart(at: $0) }
        case .cancel(let delay): delay.rounder.map { .cancel(after: $0) }
        case .slowReader(let pause): pause.rounder.map { .slowReader($0) }
        case .reset, .status, .event: []
        }
    }

    private static func rounder(_ percent: Int) -> [Int] {
        if percent == 0 { return [] }
        return percent == 50 ? [0] : [0, 50]
    }
}

extension Duration {
    /// The duration in whole units of ten seconds, seconds, tenths and hundredths, as far as these differ from it.
    fileprivate var rounder: [Duration] {
        let count = milliseconds
        var values: [Int] = []
        for unit in [10_000, 1000, 100, 10] {
            for value in [count / unit * unit, (count / unit + 1) * unit]
            where value != 0 && count % unit != 0 && !values.contains(value) {
                values.append(value)
            }
        }
        return values.map { .milliseconds($0) }
    }
}

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
    func faults(at place: String, of kind: FaultMix.PlaceKind, time: Duration) -> [Fault] {
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
