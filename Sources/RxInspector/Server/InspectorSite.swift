#if Inspector
import RxClient
import RxHAR
import Synchronization

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
    private let place = Mutex("")

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
    func inspect(_ client: Client) {
        clients.add(client) { [recorder, streams] event in
            recorder.take(event)
            streams.take(event)
        }
    }

    /// The last exchanges that have ended, without secrets, with the parts of the bodies that are kept.
    func archive() async -> HAR {
        let exchanges = streams.exchanges
        let rows = await recorder.rows
        return HAR(
            exchanges.map { $0.entry(rows[$0.id], bodyLimit: settings.bodyLimit) }
                .sorted { $0.startedDateTime < $1.startedDateTime })
    }

    /// Follows nothing anymore. The server disconnects the browsers.
    func stop() {
        clients.stop()
        recorder.stop()
        streams.stop()
    }

    /// Host and port of the server.
    var authority: String { place.withLock { $0 } }

    /// Notes the place of the server.
    func open(at authority: String) { place.withLock { $0 = authority } }

    /// 128 random bits, in hexadecimal digits.
    private static func randomName() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
#endif
