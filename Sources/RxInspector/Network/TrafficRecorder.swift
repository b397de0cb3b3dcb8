#if Inspector
import HTTPTypes
import RxClient
import RxHTTP

/// Follows the traffic of clients, and tells front ends of it.
actor TrafficRecorder {
    /// A front end and its settings.
    private struct Listener {
        let frontEnd: FrontEnd
        var isEnabled = false
        var network: EmulatedNetwork?
        var isCacheDisabled = false
    }

    nonisolated let settings: Inspector.Settings
    private nonisolated let inbox = TrafficInbox()
    private let clients: InspectedClients
    /// The maximum number of bytes of earlier requests that a front end is sent when it opens.
    private let replayLimit: Int
    private var log: NetworkLog
    /// In the order in which they came.
    private var listeners: [Listener] = []

    init(_ settings: Inspector.Settings, _ limits: InspectorLimits, _ clients: InspectedClients) {
        self.settings = settings
        self.clients = clients
        // Otherwise a front end that reads at once would be disconnected.
        replayLimit = limits.outbox / 2
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

    /// Takes an event of a client, on any thread.
    nonisolated func take(_ event: TrafficEvent) { inbox.append(event) }

    /// Follows nothing anymore.
    nonisolated func stop() { inbox.finish() }

    // MARK: Front ends

    /// The result of a command of the Network domain.
    func answer(_ command: Command, of frontEnd: FrontEnd) throws(Command.Failure) -> JSON {
        let params = command.params
        switch command.method.dropFirst("Network.".count) {
        case "enable":
            guard !listener(frontEnd).isEnabled else { return [:] }
            change(frontEnd) { $0.isEnabled = true }
            for message in log.replay(limit: replayLimit) { frontEnd.outbox.send(.text(message)) }
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

    /// Forgets a front end and its settings.
    func leave(_ frontEnd: FrontEnd) {
        listeners.removeAll { $0.frontEnd === frontEnd }
        applySettings()
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
        applySettings()
    }

    /// Sets the network of the front end that came last and has one, and disables the cache if one wants that.
    private func applySettings() {
        var tools = DeveloperTools()
        tools.network = listeners.last { $0.network != nil }?.network
        tools.isCacheDisabled = listeners.contains(where: \.isCacheDisabled)
        clients.apply(tools)
    }

    // MARK: Bodies

    /// The kept rows by the last exchange of each.
    var rows: [TrafficEvent.ExchangeID: NetworkRow] { log.byExchange }

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
