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
        var tools = DeveloperTools()
    }

    /// The time between two batches of messages, too short to be seen. `NetworkLog.patience` counts batches.
    private static let pause = Duration.milliseconds(20)

    nonisolated let settings: Inspector.Settings
    private nonisolated let inbox: TrafficInbox
    private let clients: InspectedClients
    private let sampling: RequestSampling
    /// The number of requests left out that the front ends know of.
    private var toldOmissions = 0
    /// The maximum number of bytes of earlier requests that a front end is sent when it opens.
    private let replayLimit: Int
    private var log: NetworkLog
    /// The request to announce to the next panel.
    private var awaitedLink: UInt64?
    /// In the order in which they came.
    private var listeners: [Listener] = []

    init(
        _ settings: Inspector.Settings, _ limits: InspectorLimits, _ clients: InspectedClients,
        _ sampling: RequestSampling
    ) {
        self.settings = settings
        self.clients = clients
        self.sampling = sampling
        inbox = TrafficInbox(sampling)
        // Otherwise a front end that reads at once would be disconnected.
        replayLimit = limits.outbox / 2
        log = NetworkLog(settings)
        // Runs until `stop`, which ends the batches.
        Task { await self.run() }
        awaitOmission()
    }

    private func run() async {
        while await inbox.isFilled() {
            repeat {
                takeEvents()
                // One switch of threads for many events; it is never cancelled.
                try? await Task.sleep(for: Self.pause)
            } while log.isHolding
        }
    }

    private func takeEvents() {
        let messages = log.take(inbox.takeAll())
        for listener in listeners where listener.isEnabled { listener.frontEnd.outbox.send(messages) }
    }

    /// Tells all front ends how many requests are left out, at first a second after the next one of them, then ever more
    /// rarely, so that a busy program does not fill their consoles.
    private nonisolated func awaitOmission(for pause: Duration = .seconds(1)) {
        sampling.onNextOmission { [weak self] in
            Task {
                // It is never cancelled.
                try? await Task.sleep(for: pause)
                await self?.tellOmissions(after: pause)
            }
        }
    }

    private func tellOmissions(after pause: Duration) {
        awaitOmission(for: min(pause * 2, .seconds(60)))
        toldOmissions = sampling.omittedCount
        for listener in listeners where listener.isEnabled { tellOmissions(listener.frontEnd) }
    }

    private func tellOmissions(_ frontEnd: FrontEnd) {
        guard toldOmissions > 0 else { return }
        frontEnd.outbox.send(NetworkMessage.omissions(toldOmissions, rate: settings.requestsPerSecond))
    }

    /// Tells the open panels of the last row of the request with this number, by an entry in their console that links to it;
    /// without an open panel, the next one that opens.
    ///
    /// - Returns: the number of open panels; `nil` if there is no row.
    func tellLink(toRequest number: UInt64) -> Int? {
        takeEvents()
        guard let row = log.latestRow(ofRequest: number) else { return nil }
        let open = listeners.filter(\.isEnabled)
        awaitedLink = open.isEmpty ? number : nil
        for listener in open { listener.frontEnd.outbox.send(NetworkMessage.link(to: row)) }
        return open.count
    }

    /// Takes an event of a client, on any thread.
    nonisolated func take(_ event: TrafficEvent) { inbox.append(event) }

    /// Follows nothing anymore.
    nonisolated func stop() { inbox.finish() }

    // MARK: - Front ends

    /// The result of a command of the Network domain.
    func answer(_ command: Command, of frontEnd: FrontEnd) throws(Command.Failure) -> JSON {
        takeEvents()
        let params = command.params
        switch command.method.dropFirst("Network.".count) {
        case "enable":
            guard !listener(frontEnd).isEnabled else { return [:] }
            change(frontEnd) { $0.isEnabled = true }
            frontEnd.outbox.send(log.replay(limit: replayLimit))
            tellOmissions(frontEnd)
            if let row = awaitedLink.take().flatMap({ log.latestRow(ofRequest: $0) }) {
                frontEnd.outbox.send(NetworkMessage.link(to: row))
            }
        case "disable": change(frontEnd) { $0.isEnabled = false }
        case "getResponseBody": return try body(of: row(params))
        case "getRequestPostData": return try postData(of: row(params))
        case "emulateNetworkConditions":
            let network = try EmulatedNetwork(params)
            change(frontEnd) { $0.tools.network = network }
        case "emulateNetworkConditionsByRule":
            let network = try EmulatedNetwork(rules: params)
            change(frontEnd) { $0.tools.network = network }
            let rules = params["matchedNetworkConditions"]?.elements ?? []
            return ["ruleIds": .array(rules.indices.map { .string("\($0)") })]
        case "setCacheDisabled":
            guard let isDisabled = params["cacheDisabled"]?.bool else {
                throw .invalidParameters("cacheDisabled: boolean value expected")
            }
            change(frontEnd) { $0.tools.isCacheDisabled = isDisabled }
        case "canEmulateNetworkConditions": return ["result": true]
        case "canClearBrowserCache", "canClearBrowserCookies": return ["result": false]
        case "getCookies", "getAllCookies": return ["cookies": []]
        // Requests that concern a page, and change nothing for a program.
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

    private func applySettings() { clients.apply(DeveloperTools(combining: listeners.map(\.tools))) }

    // MARK: - Bodies

    /// The kept rows by the last exchange of each.
    var rows: [TrafficEvent.ExchangeID: NetworkRow] {
        takeEvents()
        return log.byExchange
    }

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
