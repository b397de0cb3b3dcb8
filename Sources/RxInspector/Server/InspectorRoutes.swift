#if Inspector
import FoundationEssentials
import RxClient
import RxHAR
import RxHTTP
import Synchronization

/// An address below the token.
struct InspectorRoute: Sendable {
    /// The rest of the path: `json/list` for `/TOKEN/json/list`.
    let path: String
    /// The response.
    let respond: @Sendable (RequestHead, InspectorSite) async throws -> InspectorResponse

    init(
        _ path: String,
        _ respond: @escaping @Sendable (RequestHead, InspectorSite) async throws -> InspectorResponse
    ) {
        self.path = path
        self.respond = respond
    }
}

extension InspectorRoute {
    /// The routes below the token.
    static func all(_ site: InspectorSite) -> [InspectorRoute] { listing + streams + [devTools(site)] }
}

extension InspectorRoute {
    /// The addresses that programs read to find the target, as
    /// <https://chromedevtools.github.io/devtools-protocol/#endpoints> describes them. With `isListed`,
    /// ``InspectorServer`` serves these without the token, too, and no others: do not add routes that need it.
    static let listing: [InspectorRoute] = [
        InspectorRoute("json/version") { _, _ in .json(version.bytes) },
        InspectorRoute("json/list") { request, site in .json(list(request, site).bytes) },
        InspectorRoute("json") { request, site in .json(list(request, site).bytes) },
    ]

    private static let version: JSON = ["Browser": "RxNetworking/1.0", "Protocol-Version": "1.3"]

    private static func list(_ request: RequestHead, _ site: InspectorSite) -> JSON {
        let host = request.host ?? site.authority
        let names = site.clientNames
        let target: JSON = [
            "description": "RxNetworking", "id": .string(site.targetID), "type": "page",
            "title": .string(title(names)), "url": .string("http://\(host)/"),
            "clients": .array(names.map { .string($0) }),
            "webSocketDebuggerUrl": .string("ws://\(site.socket(at: host))"),
            "devtoolsFrontendUrl": .string(site.devToolsURL(at: host)),
        ]
        return [target]
    }

    /// The name of the process and those of some clients, for `chrome://inspect`.
    private static func title(_ names: [String]) -> String {
        let shown = names.prefix(4) + (names.count > 4 ? ["…"] : [])
        let clients = names.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
        return "RxNetworking: \(ProcessName.current)\(clients)"
    }
}

/// The parts of an inspector that its routes use.
final class InspectorSite: Sendable {
    let settings: Inspector.Settings
    let limits: InspectorLimits
    /// The secret part of all addresses.
    let token = InspectorSite.randomName()
    /// The id of the only target: this process.
    let targetID = InspectorSite.randomName()
    let recorder: TrafficRecorder
    let streams: StreamFeed
    private let clients: InspectedClients
    private let boundAuthority = Mutex("")

    init(_ settings: Inspector.Settings, _ limits: InspectorLimits) {
        self.settings = settings
        self.limits = limits
        let sampling = RequestSampling(
            settings.requestsPerSecond.map { .perSecond(Double(max(1, $0)), burst: $0) })
        clients = InspectedClients(sampling)
        recorder = TrafficRecorder(settings, limits, clients, sampling)
        streams = StreamFeed(clients, sampling, settings, textLimit: limits.textTime)
    }

    /// Shows the client's requests from now on.
    func inspect(_ client: Client, named name: String? = nil) {
        clients.add(client, named: name) { [recorder, streams] event, name in
            recorder.take(event)
            streams.take(event, of: name)
        }
    }

    /// The names of the clients that still exist.
    var clientNames: [String] { clients.names }

    /// The last exchanges that have ended, without secrets, with the parts of the bodies that are kept.
    func archive() async -> HAR {
        let exchanges = streams.exchanges
        let rows = await recorder.rows
        return HAR(
            exchanges.map { $0.entry(rows[$0.id], bodyLimit: settings.bodyLimit) }
                .sorted { $0.startedDateTime < $1.startedDateTime })
    }

    /// The exchanges of the request with this number as entries of an archive, and its command for curl, both without
    /// secrets; `nil` if it has been dropped.
    func exchanges(ofRequest number: UInt64) async throws -> JSON? {
        guard let row = streams.request(number) else { return nil }
        let rows = await recorder.rows
        let exchanges = row.exchanged(endedOnly: false)
        let entries = try exchanges.map {
            JSON.text(
                Array(try JSONEncoder().encode($0.entry(rows[$0.id], bodyLimit: settings.bodyLimit))))
        }
        // A stored response has a row, but no exchange.
        let kept =
            exchanges.isEmpty
            ? rows.values.first { $0.exchange.request == row.id } : exchanges.last.flatMap { rows[$0.id] }
        // `request-details.js` reads the members.
        return ["curl": .string(row.command(withBodyOf: kept)), "entries": .array(entries)]
    }

    /// Follows nothing anymore. The server disconnects the browsers.
    func stop() {
        clients.stop()
        recorder.stop()
        streams.stop()
    }

    /// Host and port of the server.
    var authority: String { boundAuthority.withLock { $0 } }

    /// The address of the protocol's WebSocket, without the scheme; ``InspectorRoute/devTools(_:)`` serves it.
    ///
    /// - Parameter authority: host and port under which the browser reaches the server, which a tunnel changes.
    func socket(at authority: String) -> String { "\(authority)/\(token)/devtools/page/\(targetID)" }

    /// The address of the Network panel.
    func devToolsURL(at authority: String) -> String {
        "devtools://devtools/bundled/devtools_app.html?panel=network&ws=\(socket(at: authority))"
    }

    /// Records host and port of the server.
    func open(at authority: String) { boundAuthority.withLock { $0 = authority } }

    /// 128 random bits, in hexadecimal digits.
    private static func randomName() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The name of the inspected program.
enum ProcessName {
    static var current: String { ProcessInfo.processInfo.processName }
}
#endif
