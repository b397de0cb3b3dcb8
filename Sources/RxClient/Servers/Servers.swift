public import RxHTTP
public import RxLite
import Synchronization

/// The servers of a client's service: the main server, the standby server if there is one, and which of them
/// is active.
///
/// ```swift
/// client.servers.main = "https://staging.example.com/v1"
/// client.servers.active.subscribe { role in badge.isHidden = role == .main }
/// ```
///
/// Requests that begin after a change use it; requests in flight keep their servers. Safe from any thread.
public final class Servers: Sendable {
    private struct Contents {
        var pair: ServerPair
        var state: FailoverState
    }

    private let shownRole = MutableProperty(Role.main)
    /// The server for requests whose endpoint makes no choice (``RequestOptions/server``). Changes with
    /// ``use(_:)`` and with a failover.
    public var active: Property<Role> { Property(shownRole) }
    /// The time between probes of the main server, see ``ClientConfiguration/failoverProbeInterval``. `nil`: only
    /// ``use(_:)`` changes the active server.
    public let failoverProbeInterval: Duration?

    private let hosts: HostRegistry
    private let clock: any Scheduler
    private let contents: Mutex<Contents>

    init(
        main: String, standby: String?, failoverProbeInterval: Duration?, hosts: HostRegistry,
        clock: any Scheduler
    ) {
        self.failoverProbeInterval = failoverProbeInterval
        self.hosts = hosts
        self.clock = clock
        let pair = ServerPair(main: Server(main, in: hosts), standby: standby.map { Server($0, in: hosts) })
        // Without an interval nothing is probed.
        let state = FailoverState(probeInterval: failoverProbeInterval ?? .zero)
        contents = Mutex(Contents(pair: pair, state: state))
    }

    /// The base URL of the main server, such as `https://api.example.com/v1`. A new URL takes effect at once.
    public var main: String {
        get { pair.main.baseURL }
        set {
            let (server, now) = (Server(newValue, in: hosts), clock.now)
            change { contents in
                contents.pair = ServerPair(main: server, standby: contents.pair.standby)
                contents.state.use(.main, at: now)
            }
        }
    }

    /// The base URL of the standby server. A new URL takes effect at once, and leaves the active server as it is; `nil`
    /// removes the server, and makes the main server the active one.
    public var standby: String? {
        get { pair.standby?.baseURL }
        set {
            let (server, now) = (newValue.map { Server($0, in: hosts) }, clock.now)
            change { contents in
                contents.pair = ServerPair(main: contents.pair.main, standby: server)
                guard server == nil else { return contents.state.outdateAttempts() }
                contents.state.use(.main, at: now)
            }
        }
    }

    /// Makes one of the two servers the active one. With ``failoverProbeInterval``, the main server is probed while a
    /// standby server activated here serves, as if that had taken over by itself. Without a standby server nothing changes.
    public func use(_ role: Role) {
        let now = clock.now
        change { contents in
            guard contents.pair[role] != nil else { return }
            contents.state.use(role, at: now)
        }
    }

    // MARK: - For requests

    var pair: ServerPair { contents.withLock { $0.pair } }

    /// The server for an attempt that cannot switch to the other server.
    ///
    /// - Parameter choice: the choice of the endpoint; `nil` for the active server.
    func role(for choice: Role?) -> Role { choice ?? contents.withLock { $0.state.active } }

    /// Begins an attempt that may switch to the other server.
    ///
    /// - Parameters:
    ///   - pair: the servers of the request; `nil` for the present ones. If one of them has been replaced since, the
    ///     outcome does not affect the state.
    ///   - mayProbe: whether the attempt may probe the main server.
    func begin(at pair: ServerPair?, mayProbe: Bool) -> FailoverState.Visit {
        let now = clock.now
        return contents.withLock { contents in
            if let pair, !pair.isSame(as: contents.pair) { return contents.state.beginOutdated() }
            return contents.state.begin(mayProbe: mayProbe, at: now)
        }
    }

    /// Records the outcome of an attempt.
    func end(_ visit: FailoverState.Visit, _ outcome: FailoverState.Outcome) {
        let now = clock.now
        change { $0.state.end(visit, outcome, at: now) }
    }

    private func change(_ change: (inout Contents) -> Void) {
        let (before, after) = contents.withLock { contents in
            let before = contents.state.active
            change(&contents)
            return (before, contents.state.active)
        }
        guard before != after else { return }
        // Reads the state again at each step, so that the last of several threads publishes the latest one.
        shownRole.update { shown in shown = contents.withLock { $0.state.active } }
    }
}

extension Servers: RedactedDescription {
    /// The base URLs without user info and query.
    public var description: String {
        main.withoutSecrets + (standby.map { ", standby \($0.withoutSecrets)" } ?? "")
    }
}

extension Servers {
    /// The roles of a service's two servers.
    public enum Role: Sendable, Hashable {
        /// The primary server of the service.
        case main
        /// The server that replaces the main one, or provides the rest of the API.
        case standby

        var other: Role { self == .main ? .standby : .main }
    }
}
