import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting

/// Event sources in virtual time, with scripted connections.
struct EventSourceFixture {
    let clock = VirtualScheduler()

    static func answer(
        _ text: String, type: String? = "text/event-stream", status: HTTPResponse.Status = .ok,
        then end: ScriptedTransport.Step = .finish
    ) -> ScriptedTransport.Reply {
        var fields = HTTPFields()
        fields[.contentType] = type
        return .steps(
            .head(ResponseHead(status: status, headerFields: fields)), .chunk(Array(text.utf8)), end)
    }

    func source(
        _ answers: ScriptedTransport.Reply..., call: InlineEndpoint = InlineEndpoint(.get, "/events"),
        until isEnd: (@Sendable (ServerSentEvent) -> Bool)? = nil, deliversEnd: Bool = false,
        resumption: StreamResumption<ServerSentEvent> = .automatic, lastEventID: String = ""
    ) -> (Recorder<String, NetworkError>, ScriptedTransport) {
        let book = Script(answers)
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(
            client.events(
                call, until: isEnd, deliversEnd: deliversEnd, resumption: resumption,
                lastEventID: lastEventID,
                limit: 50
            ).map { update in
                switch update {
                case .open(let head): "open \(head.status.code)"
                case .message(let event): "\(event.type) \(event.data) \(event.lastEventID)"
                case .comment(let text): "comment \(text)"
                case .reconnecting(let delay, let error):
                    "again in \(delay / .milliseconds(1)): \(error?.code.rawValue ?? "closed")"
                }
            }, on: clock)
        return (recorder, transport)
    }
}
