#if Inspector
import FoundationEssentials
import RxCache
import RxClient
import RxHTTP
import RxLite

/// A client whose requests and state are shown. Does not keep the client.
struct InspectedClient: Sendable {
    private(set) weak var client: Client?
    /// The name, which no other client of the inspector has.
    let name: String
    /// The subscription to the client's traffic.
    let subscription: Subscription

    init(_ client: Client, named name: String, _ subscription: Subscription) {
        self.client = client
        self.name = name
        self.subscription = subscription
    }

    /// The state of the client's parts, as the page reads it; `nil` if it has been released.
    var state: JSON? {
        guard let client else { return nil }
        let configuration = client.configuration
        var members: [(String, JSON)] = [
            ("name", .string(name)),
            ("running", .integer(client.activity.count.value)),
            ("circuits", .array(Self.circuits(of: client))),
            ("cache", Self.cache(configuration.cache.statistics)),
        ]
        if let session = configuration.session?.inspectedState {
            members.append(
                ("session", ["state": .string(session.text), "generation": .integer(session.generation)]))
        }
        if let limiter = client.limiter {
            members.append(("limiter", ["waiting": .integer(limiter.waitingCount)]))
        }
        return .object(members)
    }

    private static func circuits(of client: Client) -> [JSON] {
        [(ServerRole.main, "main"), (.standby, "standby")].compactMap { role, name in
            guard let breaker = client.circuitBreaker(of: role) else { return nil }
            let state =
                switch breaker.state.value {
                case .closed: "closed"
                case .open: "open"
                case .halfOpen: "half-open"
                }
            return ["server": .string(name), "state": .string(state)]
        }
    }

    private static func cache(_ statistics: CacheStatistics) -> JSON {
        [
            "hits": .integer(statistics.hits), "misses": .integer(statistics.misses),
            "revalidated": .integer(statistics.revalidated), "joined": .integer(statistics.joined),
            "bytes": .integer(statistics.usage.bytes),
        ]
    }
}

extension Client {
    /// The server's name and port.
    var inspectedName: String {
        guard let origin = URL(string: servers.main).flatMap({ Origin($0) }) else { return "client" }
        return [80, 443].contains(origin.port) ? origin.host : "\(origin.host):\(origin.port)"
    }
}
#endif
