import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting

/// A scripted shop in virtual time, a recording of it, and the events that a request gets.
struct RecordedShop {
    let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 784_111_777))
    let network: ScriptedTransport
    let recording: RecordingTransport

    init(
        _ rules: [ScriptedTransport.Rule], after former: Cassette = Cassette(),
        replacing: [String: String] = [:]
    ) {
        network = ScriptedTransport(on: clock, rules)
        recording = RecordingTransport(network, after: former, replacing: replacing)
    }

    /// The cassette after it was written and read.
    func cassette() throws -> Cassette { try Cassette(bytes: recording.cassette.encoded) }

    static func client(_ transport: any Transport, baseURL: String = "https://shop.test") -> Client {
        Client(baseURL: baseURL, transport: transport)
    }

    /// All events of one exchange with their times, as text.
    static func events(of request: Request, by transport: any Transport, on clock: VirtualScheduler) throws
        -> [String]
    {
        let recorder = Recorder(transport.send(request), on: clock)
        try clock.run()
        return recorder.events.map { event in
            switch event.kind {
            case .next(let transfer): "\(event.time) \(text(of: transfer))"
            case .end(.finished): "\(event.time) |"
            case .end(.failed(let error)):
                "\(event.time) \(error.code) \(error.message) unsent=\(error.isUnsent)"
            }
        }
    }

    private static func text(of event: TransferEvent) -> String {
        switch event {
        case .uploaded(let bytes, let total): "uploaded \(bytes) of \(total ?? -1)"
        case .redirected: "redirected"
        case .interim(let head): "interim \(fields(head))"
        case .head(let head): "head \(fields(head))"
        case .chunk(let bytes): "chunk \(String(decoding: bytes, as: UTF8.self))"
        case .trailers(let fields): "trailers \(fields)"
        case .finished: "finished"
        }
    }

    private static func fields(_ head: ResponseHead) -> String {
        "\(head.status.code) \(head.status.reasonPhrase) "
            + head.headerFields.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
    }
}
