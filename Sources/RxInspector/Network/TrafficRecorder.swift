#if Inspector
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// Follows the traffic of clients, and tells front ends of it.
actor TrafficRecorder {
    /// A front end and its wishes.
    private struct Listener {
        let frontEnd: FrontEnd
        var isEnabled = false
        var network: EmulatedNetwork?
        var isCacheDisabled = false
    }

    private final class Inspected: Sendable {
        weak let client: Client?
        let subscription: Subscription

        init(_ client: Client, _ subscription: Subscription) {
            self.client = client
            self.subscription = subscription
        }
    }

    nonisolated let settings: Inspector.Settings
    private nonisolated let inbox = TrafficInbox()
    private nonisolated let inspected = Mutex<[Inspected]>([])
    /// The wishes of the front ends together.
    private nonisolated let tools = Mutex(DeveloperTools())
    private var log: NetworkLog
    /// In the order in which they came.
    private var listeners: [Listener] = []

    init(_ settings: Inspector.Settings) {
        self.settings = settings
        log = NetworkLog(settings)
        // Runs until `stop`, which ends the batches.
        Task { await self.run() }
    }

    private func run() async {
        while let items = await inbox.next() {
            let messages = log.take(items)
            for listener in listeners where listener.isEnabled {
                for message in messages { listener.frontEnd.outbox.send(.text(message)) }
            }
        }
    }

    /// Follows the client's traffic.
    nonisolated func inspect(_ client: Client) {
        let inbox = inbox
        let subscription = client.traffic.subscribe(onNext: { inbox.append($0) })
        inspected.withLock { clients in
            clients.removeAll { $0.client == nil }
            clients.append(Inspected(client, subscription))
        }
        client.developerTools = tools.withLock { $0 }
    }

    /// Follows nothing anymore.
    nonisolated func stop() {
        let clients = inspected.withLock { clients in
            defer { clients = [] }
            return clients
        }
        for inspected in clients {
            inspected.subscription.cancel()
            inspected.client?.developerTools = DeveloperTools()
        }
        inbox.finish()
    }

    // MARK: Front ends

    /// The result of a command of the Network domain.
    func answer(_ command: Command, of frontEnd: FrontEnd) throws(Command.Failure) -> JSON {
        let params = command.params
        switch command.method.dropFirst("Network.".count) {
        case "enable":
            guard !listener(frontEnd).isEnabled else { return [:] }
            change(frontEnd) { $0.isEnabled = true }
            for message in log.replay { frontEnd.outbox.send(.text(message)) }
        case "disable": change(frontEnd) { $0.isEnabled = false }
        case "getResponseBody": return try body(of: row(params))
        case "getRequestPostData": return try postData(of: row(params))
        case "emulateNetworkConditions":
            let network = try EmulatedNetwork(params)
            change(frontEnd) { $0.network = network }
        case "emulateNetworkConditionsByRule":
            let network = try EmulatedNetwork(rules: params)
            change(frontEnd) { $0.network = network }
            let rules = params["matchedNetworkConditions"]?.elements ?? []
            return ["ruleIds": .array(rules.indices.map { .string("\($0)") })]
        case "setCacheDisabled":
            guard let isDisabled = params["cacheDisabled"]?.bool else {
                throw .invalidParameters("cacheDisabled: boolean value expected")
            }
            change(frontEnd) { $0.isCacheDisabled = isDisabled }
        case "canEmulateNetworkConditions": return ["result": true]
        case "canClearBrowserCache", "canClearBrowserCookies": return ["result": false]
        case "getCookies", "getAllCookies": return ["cookies": []]
        // Wishes that a page could fulfil and a program has no use for.
        case "setAttachDebugStack", "setBypassServiceWorker", "clearAcceptedEncodingsOverride",
            "enableReportingApi", "overrideNetworkState", "setBlockedURLs", "configureDurableMessages",
            "enableDeviceBoundSessions":
            break
        default: throw .unknownMethod(command.method)
        }
        return [:]
    }

    /// Forgets a front end and its wishes.
    func leave(_ frontEnd: FrontEnd) {
        listeners.removeAll { $0.frontEnd === frontEnd }
        applyWishes()
    }

    private func listener(_ frontEnd: FrontEnd) -> Listener {
        listeners.first { $0.frontEnd === frontEnd } ?? Listener(frontEnd: frontEnd)
    }

    private func change(_ frontEnd: FrontEnd, _ change: (inout Listener) -> Void) {
        var listener = listener(frontEnd)
        change(&listener)
        if let index = listeners.firstIndex(where: { $0.frontEnd === frontEnd }) {
            listeners[index] = listener
        } else {
            listeners.append(listener)
        }
        applyWishes()
    }

    /// Sets the network of the front end that came last and has one, and disables the cache if one wants that.
    private func applyWishes() {
        let tools = tools.withLock { tools in
            tools.network = listeners.last { $0.network != nil }?.network
            tools.isCacheDisabled = listeners.contains(where: \.isCacheDisabled)
            return tools
        }
        for inspected in inspected.withLock({ $0 }) { inspected.client?.developerTools = tools }
    }

    // MARK: Bodies

    private func row(_ params: JSON) throws(Command.Failure) -> NetworkRow {
        guard let id = params["requestId"]?.string else {
            throw .invalidParameters("requestId: string value expected")
        }
        guard let row = log.row(id) else { throw .refused("No resource with given identifier found") }
        return row
    }

    private func body(of row: NetworkRow) throws(Command.Failure) -> JSON {
        guard let head = row.head else { throw .refused("No data found for resource with given identifier") }
        let type = head[.contentType]
        guard row.body.count == row.bodyCount || MediaType(type).isText && !row.body.isEmpty else {
            throw .refused("Request content was evicted from inspector cache")
        }
        return row.shown.body(row.body, type: type)
    }

    private func postData(of row: NetworkRow) throws(Command.Failure) -> JSON {
        guard let text = row.shown.postData(limit: settings.bodyLimit) else {
            throw .refused("No post data available for the request")
        }
        return ["postData": .string(text), "base64Encoded": false]
    }
}
#endif
