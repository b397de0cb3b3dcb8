#if Fleet
import FoundationEssentials
public import RxClient
package import RxHTTP
public import RxLite

/// The circuits of a fleet: a host that fails for one process is spared by all, and one of them probes it.
///
/// ```swift
/// let circuits = FleetCircuits(in: store)
/// configuration.circuitBreaker = CircuitBreaker.Policy(failureRatio: 0.5).shared(through: circuits)
/// ```
///
/// A process that opens a circuit tells the others by a message, and leaves an entry for those that start later. When the
/// time is over, the first process with a request replaces the entry by its claim and probes the host. While the store cannot
/// be reached, each process probes by itself. Thread-safe.
public final class FleetCircuits: Sendable {
    private let store: any SharedStore
    private let clock: any Scheduler
    private let timeLimit: Duration
    private let signal = Signal<FleetEvent>()
    /// Marks the messages of this process, which ``changes(of:)`` drops.
    private let writer = RandomSource.number()

    // This name and that of ``entry(of:)`` are the same for all releases.
    private static let channel = "circuits"
    /// How long a circuit is spared of which only the entry is known, until this process asks whether it may probe.
    private static let askingInterval = Duration.seconds(1)

    /// Creates circuits.
    ///
    /// - Parameters:
    ///   - store: the store that the processes share.
    ///   - timeLimit: how long the store may take to reply before this process probes by itself. Default 1 s.
    ///   - clock: the clock of that limit. Default: the library's shared clock.
    public init(in store: any SharedStore, timeLimit: Duration = .seconds(1), clock: (any Scheduler)? = nil) {
        self.store = store
        self.timeLimit = timeLimit
        self.clock = clock ?? ActorScheduler.shared
    }

    /// The changes of circuits by this process and by others, from the time of subscription.
    public var events: Observable<FleetEvent, Never> { signal.observable }

    // MARK: - Changes

    /// JSON by the names of the properties, which processes of other releases read.
    private struct Message: Codable {
        var writer: UInt64
        var host: String
        /// How long the circuit is open; `nil` if it has closed.
        var milliseconds: Int64?
    }

    private static func entry(of host: String) -> String { "circuit:" + host }

    /// Tells all processes, also those that start later.
    package func report(_ change: CircuitBreaker.Change, of host: String) {
        var message = Message(writer: writer, host: host)
        let entry: Observable<SwapResult, NetworkError>
        switch change {
        case .opened(let time):
            // At most a day: receivers drop a message with more.
            let milliseconds = Int64(min(max(time / .milliseconds(1), 1), 86_400_000).rounded(.up))
            message.milliseconds = milliseconds
            // A little less, so that it is gone when the first process asks.
            let lifetime = Duration.milliseconds(milliseconds)
            entry = store.swap(
                Self.entry(of: host), to: [1], expecting: .any, under: nil,
                for: lifetime - min(lifetime / 10, .seconds(1)))
        case .closed:
            entry = store.swap(Self.entry(of: host), to: nil, expecting: .any, under: nil, for: nil)
        }
        signal.send(.circuit(host: host, openFor: change.openDuration))
        guard let data = try? JSONEncoder().encode(message) else { return }
        // The entry first: who receives the message finds it.
        Observable.concat([
            entry.map { _ in }.catch { _ in .just(()) }.ignoreElements(as: Void.self),
            store.publish(Array(data), to: Self.channel),
        ])
        // Without the store the others find out by themselves.
        .subscribe(onFailure: { _ in })
    }

    /// The changes by other processes. A message that is not one is dropped.
    package func changes(of host: String) -> Observable<CircuitBreaker.Change, Never> {
        store.messages(of: Self.channel).scan((connections: 0, message: SharedMessage.disconnected)) {
            ($0.connections + ($1 == .connected ? 1 : 0), $1)
        }
        .flatMap(.concat) { [self] connections, message -> Observable<CircuitBreaker.Change, Never> in
            switch message {
            case .disconnected: return .empty()
            // Messages may have been missed before. A claim of this process is news only to a breaker that is new.
            case .connected:
                return store.read(Self.entry(of: host)).catch { _ in .just(nil) }
                    .compactMap { [claim] entry in
                        guard let entry, connections == 1 || entry.bytes != claim else { return nil }
                        return .opened(for: Self.askingInterval)
                    }
            case .message(let bytes):
                guard let change = change(in: bytes, of: host) else { return .empty() }
                signal.send(.circuit(host: host, openFor: change.openDuration))
                return .just(change)
            }
        }
    }

    private func change(in bytes: [UInt8], of host: String) -> CircuitBreaker.Change? {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(bytes)),
            message.writer != writer, message.host == host
        else { return nil }
        guard let milliseconds = message.milliseconds else { return .closed }
        // As `report` sends them.
        return (1...86_400_000).contains(milliseconds) ? .opened(for: .milliseconds(milliseconds)) : nil
    }

    // MARK: - Probes

    /// The content of this process's claims; that of an open circuit is `[1]`.
    private var claim: [UInt8] { [2] + (0..<8).map { UInt8(truncatingIfNeeded: writer >> ($0 * 8)) } }

    /// Claims the probe of a host in the store.
    package func mayProbe(_ host: String, for time: Duration) -> Observable<Bool, NetworkError> {
        let limit = NetworkError(.idleTimeout, "the store has not replied within \(timeLimit)")
        let claimed = store.swap(
            Self.entry(of: host), to: claim, expecting: .absent, under: nil,
            for: min(max(time, .seconds(1)), .seconds(86_400)))
        return claimed.map { $0 != .conflict }.timeout(timeLimit, on: clock) { limit }
    }
}

extension FleetCircuits: SharedCircuits {}

extension CircuitBreaker.Change {
    /// How long the circuit is open; `nil` if it has closed.
    fileprivate var openDuration: Duration? { if case .opened(let time) = self { time } else { nil } }
}

extension CircuitBreaker.Policy {
    /// The policy with circuits that open and close for all processes of a fleet. A process whose circuit may be probed asks
    /// for the right to do so; its other requests, and those of the other processes, fail until the outcome is known.
    ///
    /// - Parameter circuits: the circuits of the fleet.
    public func shared(through circuits: FleetCircuits) -> CircuitBreaker.Policy {
        sharing(circuits)
    }
}
#endif
