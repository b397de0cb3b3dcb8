#if Inspector
import FoundationEssentials
import RxCache
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// The clients of an inspector, each once. Does not keep them.
final class InspectedClients: Sendable {
    private struct Contents {
        var list: [InspectedClient] = []
        var tools = DeveloperTools()
        var isStopped = false
    }

    private let contents = Mutex(Contents())
    private let sampling: RequestSampling

    /// - Parameter sampling: chooses the requests that are shown.
    init(_ sampling: RequestSampling) { self.sampling = sampling }

    /// Passes the client's events on from now on. Does nothing for a client that is in the list, and after ``stop()``.
    ///
    /// - Parameters:
    ///   - name: the name of the client, by default that of its server; another number is added to a name that is used.
    ///   - take: takes an event and the name.
    func add(
        _ client: Client, named name: String?, _ take: @escaping @Sendable (TrafficEvent, String) -> Void
    ) {
        contents.withLock { contents in
            contents.list.removeAll { $0.client == nil }
            guard !contents.isStopped, !contents.list.contains(where: { $0.client === client }) else {
                return
            }
            let base = name ?? client.inspectedName
            var (name, number) = (base, 1)
            while contents.list.contains(where: { $0.name == name }) {
                number += 1
                name = "\(base) \(number)"
            }
            let taken = name
            let subscription = client.traffic(sampling).subscribe { take($0, taken) }
            contents.list.append(InspectedClient(client, named: name, subscription))
            client.apply(contents.tools, of: self)
        }
    }

    /// Applies the settings of the panels to all clients, and to those that come later.
    func apply(_ tools: DeveloperTools) {
        contents.withLock { contents in
            guard !contents.isStopped else { return }
            contents.tools = tools
            for inspected in contents.list { inspected.client?.apply(tools, of: self) }
        }
    }

    /// The names of the clients that still exist.
    var names: [String] {
        // Clients are released outside of the lock.
        contents.withLock { $0.list }.filter { $0.client != nil }.map(\.name)
    }

    /// The states of the clients that still exist, as the page of streams reads them.
    var states: [JSON] { contents.withLock { $0.list }.compactMap(\.state) }

    /// Lets go of all clients.
    func stop() {
        contents.withLock { contents in
            for inspected in contents.list {
                inspected.subscription.cancel()
                inspected.client?.apply(DeveloperTools(), of: self)
            }
            contents = Contents()
            contents.isStopped = true
        }
    }
}

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

    /// The state of the client's parts, with the members that `clientCard` of `cards.js` reads; `nil` if the client has
    /// been released.
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
            // `cards.js` compares the text with `logged in`.
            members.append(
                ("session", ["state": .string(session.text), "generation": .integer(session.generation)]))
        }
        if let limiter = client.limiter {
            members.append(("limiter", ["waiting": .integer(limiter.waitingCount)]))
        }
        return .object(members)
    }

    /// The circuit breakers. `cards.js` chooses colours by the words for the states.
    private static func circuits(of client: Client) -> [JSON] {
        [(Servers.Role.main, "main"), (.standby, "standby")].compactMap { role, name in
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
