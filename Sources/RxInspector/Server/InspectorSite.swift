#if Inspector
import Synchronization

/// The parts of an inspector that its routes use.
final class InspectorSite: Sendable {
    let settings: Inspector.Settings
    /// The secret part of all addresses.
    let token = InspectorSite.randomName()
    /// The id of the only target: this process.
    let targetID = InspectorSite.randomName()
    let recorder: TrafficRecorder
    let streams: StreamFeed
    private let place = Mutex("")

    init(_ settings: Inspector.Settings) {
        self.settings = settings
        recorder = TrafficRecorder(settings)
        streams = StreamFeed(textLimit: settings.textLimit)
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
