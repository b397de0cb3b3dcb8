import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import RxWebSocket
import Synchronization

/// Records the exchanges of another transport.
///
/// ```swift
/// let recording = RecordingTransport(CurlTransport.shared)
/// let client = Client(configuration: configuration, transport: recording)
/// // The calls to record.
/// try recording.cassette.write(to: "Tests/ShopTests/Cassettes/login.har")
/// ```
///
/// Secrets are replaced by placeholders such as `secret-1`, in header fields, URLs, forms, JSON and messages, by the
/// rules of each request (`Request.redaction`). The same secret has the same placeholder, so that a token that a login
/// returned is still the token that the next request sends. A secret that is long and irregular is replaced wherever
/// else it occurs. Binary content is recorded unchanged.
///
/// Bodies are kept in memory until the cassette is written. A WebSocket is recorded without compression. Thread-safe.
public final class RecordingTransport: Transport {
    private struct Contents {
        var pseudonyms: Pseudonyms
        var exchanges: [Int: Cassette.Exchange] = [:]
        var running: [Int: ExchangeDraft] = [:]
        var begun = 0
    }

    private let transport: any Transport
    private let former: Cassette
    private let texts: [String: String]
    private let contents: Mutex<Contents>

    /// Creates a transport that records.
    ///
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - former: the earlier exchanges, whose placeholders are not used again. Default none.
    ///   - replacements: texts of at least eight bytes and their replacements, for example the address of a server on
    ///     a port that changes. They are replaced wherever they occur. Default none.
    public init(
        _ transport: any Transport, after former: Cassette = Cassette(),
        replacing replacements: [String: String] = [:]
    ) {
        self.transport = transport
        self.former = former
        texts = replacements
        let highest = former.exchanges.isEmpty ? 0 : Pseudonyms.highestNumber(in: former.encoded)
        contents = Mutex(Contents(pseudonyms: Pseudonyms(after: highest)))
    }

    /// The scheduler of the recorded transport.
    public var scheduler: any Scheduler { transport.scheduler }

    /// The scheduler that the recorded transport chooses.
    public func scheduler(for origin: Origin?) -> any Scheduler { transport.scheduler(for: origin) }

    /// The store of the recorded transport.
    public var hsts: HSTSStore? { transport.hsts }

    /// The files of the recorded transport.
    public var files: any FileSystem { transport.files }

    /// The changes of the recorded transport's connections.
    public var connections: Observable<ConnectionEvent, Never> { transport.connections }

    /// The recording so far: the earlier exchanges, then the new ones in the order in which they began. An exchange
    /// that is running counts as cancelled.
    public var cassette: Cassette {
        let (exchanges, pseudonyms) = contents.withLock { contents in
            var exchanges = contents.exchanges
            // In order, so that placeholders are numbered as the requests are.
            for (number, draft) in contents.running.sorted(by: { $0.key < $1.key }) {
                exchanges[number] = draft.exchange(&contents.pseudonyms)
            }
            return (exchanges, contents.pseudonyms)
        }
        let known = KnownTexts(pseudonyms.scattered.merging(texts) { _, text in text })
        let new = exchanges.sorted { $0.key < $1.key }.map { _, exchange in
            var exchange = exchange
            exchange.replace(known)
            return exchange
        }
        return Cassette(former.exchanges + new)
    }

    /// Whether an exchange has begun.
    var hasRecorded: Bool { contents.withLock { $0.begun > 0 } }

    /// The exchange of the recorded transport, which is recorded with each subscription.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        let exchange = transport.send(request)
        let clock = exchange.scheduler ?? transport.scheduler
        return Observable(scheduler: exchange.scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let draft = self.begin(request, clock)
            let scope = observer.scope.child()
            scope.onClose { self.end(draft) }
            let isPlain = request.upgrade == nil && !request.body.isStreamed
            (isPlain ? exchange : self.transport.send(draft.observed)).subscribe(
                Observer(
                    scope: scope,
                    next: { event in
                        draft.record(transfer: event)
                        observer.next(event)
                    },
                    end: { completion in
                        if case .failed(let error) = completion { draft.record(failure: error) }
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }

    private func begin(_ request: Request, _ clock: any Scheduler) -> ExchangeDraft {
        contents.withLock { contents in
            contents.begun += 1
            let draft = ExchangeDraft(request, number: contents.begun, clock: clock)
            contents.running[draft.number] = draft
            return draft
        }
    }

    private func end(_ draft: ExchangeDraft) {
        draft.close()
        contents.withLock { contents in
            contents.running[draft.number] = nil
            contents.exchanges[draft.number] = draft.exchange(&contents.pseudonyms)
        }
    }
}

extension Body {
    fileprivate var isStreamed: Bool { if case .streamed = self { true } else { false } }
}

/// One exchange while it is recorded.
final class ExchangeDraft: Sendable {
    private struct Contents: ~Copyable {
        var events: [Cassette.Event] = []
        var body: [UInt8] = []
        var isWebSocket = false
        /// The parsers of the two directions of a WebSocket; the other side of each is simulated.
        var received: WebSocketConnectionState?
        var sent: WebSocketConnectionState?
    }

    /// The request before anything is replaced.
    let request: Request
    let number: Int
    private let clock: any Scheduler
    private let start: Duration
    private let date: Date
    private let contents = Mutex(Contents())

    init(_ request: Request, number: Int, clock: any Scheduler) {
        self.request = request
        self.number = number
        self.clock = clock
        start = clock.now
        date = clock.currentDate
    }

    func record(_ kind: Cassette.Event.Kind) {
        // Inside the lock, so that the times of two directions do not decrease.
        contents.withLock { $0.events.append(Cassette.Event(clock.now - start, kind)) }
    }

    /// Records that the exchange is over; it was cancelled unless it had ended.
    func close() {
        let hasEnded = contents.withLock { contents in
            switch contents.events.last?.kind {
            case .finished, .failed: true
            default: false
            }
        }
        if !hasEnded { record(.cancelled) }
    }

    func record(transfer event: TransferEvent) {
        switch event {
        case .uploaded(let bytes, let total): record(.uploaded(bytes: bytes, of: total))
        case .redirected: break
        case .interim(let head): record(.interim(head))
        case .head(let head):
            record(.head(head))
            if request.upgrade != nil, head.status == .switchingProtocols { open() }
        case .chunk(let bytes): record(received: bytes)
        case .trailers(let fields): record(.trailers(fields))
        case .finished: record(.finished)
        }
    }

    func record(failure error: NetworkError) {
        let hasResponse = contents.withLock { contents in
            contents.events.contains { if case .head = $0.kind { true } else { false } }
        }
        let phase: Cassette.Failure.Phase =
            error.isUnsent ? .connect : hasResponse || error.head != nil ? .response : .request
        record(
            .failed(
                Cassette.Failure(
                    error.code, error.message, phase: phase, tlsFailure: error.tlsFailure,
                    curlCode: error.curlCode)))
    }

    // MARK: - The request's content

    /// The request, whose streamed content and messages are recorded while they are sent. Compression of a WebSocket is
    /// not offered, so that the recorder can read its messages.
    var observed: Request {
        var observed = request
        if case .streamed(let body) = request.body {
            // New content, without the old one's `file`: a transport would read the file itself, and not these chunks.
            observed.body = .streamed(
                StreamedBody(isReplayable: body.isReplayable, count: body.count) { files in
                    body.open(files).map { content in
                        StreamedBody.Content(
                            length: content.length,
                            chunks: content.chunks.handleEvents(
                                onSubscribe: { self.contents.withLock { $0.body = [] } },
                                onNext: { bytes in self.contents.withLock { $0.body += bytes } }))
                    }
                })
        }
        if let upgrade = request.upgrade {
            observed.headerFields[.secWebSocketExtensions] = nil
            observed.upgrade = ProtocolUpgrade(
                output: upgrade.output.handleEvents(onNext: { self.record(sent: $0) }))
        }
        return observed
    }

    // MARK: - WebSockets

    private func open() {
        let limits = WebSocketLimits(messageBytes: .max)
        contents.withLock { contents in
            contents.isWebSocket = true
            contents.received = WebSocketConnectionState(role: .client, limits: limits)
            contents.sent = WebSocketConnectionState(role: .server, limits: limits)
        }
    }

    private func record(received bytes: [UInt8]) {
        let isMessage = contents.withLock { contents in
            guard contents.isWebSocket else { return false }
            var (inputs, replies): ([WebSocketInput], [UInt8]) = ([], [])
            contents.received?.receive(bytes, replies: &replies) { inputs.append($0) }
            append(inputs, from: .server, to: &contents.events)
            return true
        }
        if !isMessage { record(.chunk(bytes)) }
    }

    private func record(sent bytes: [UInt8]) {
        contents.withLock { contents in
            var (inputs, replies): ([WebSocketInput], [UInt8]) = ([], [])
            contents.sent?.receive(bytes, replies: &replies) { inputs.append($0) }
            append(inputs, from: .client, to: &contents.events)
        }
    }

    private func append(
        _ inputs: [WebSocketInput], from sender: Cassette.Sender, to events: inout [Cassette.Event]
    ) {
        let time = clock.now - start
        for input in inputs {
            switch input {
            case .message(let message): events.append(Cassette.Event(time, .message(message, sender)))
            case .close(let code, let reason):
                events.append(Cassette.Event(time, .close(code, reason: reason, sender)))
            case .ping, .pong, .violation: break
            }
        }
    }

    // MARK: - The exchange

    /// The exchange so far, with placeholders for its secrets.
    func exchange(_ pseudonyms: inout Pseudonyms) -> Cassette.Exchange {
        let (events, streamed, isWebSocket) = contents.withLock { ($0.events, $0.body, $0.isWebSocket) }
        let redaction = request.redaction
        var body = streamed
        if case .bytes(let bytes) = request.body { body = bytes }
        let type = request.headerFields[.contentType]
        var exchange = Cassette.Exchange(
            startedAt: date, method: request.method,
            url: pseudonyms.replaced(url: request.urlText, redaction),
            headerFields: pseudonyms.replaced(request.headerFields, redaction),
            body: pseudonyms.edits(in: body, type: type, redaction).applied(to: body), events: events,
            isWebSocket: isWebSocket)
        exchange.replaceChunks { bytes, type in pseudonyms.edits(in: bytes, type: type, redaction) }
        for index in exchange.events.indices {
            if case .message(.binary(let bytes), let sender) = exchange.events[index].kind {
                let edits = pseudonyms.edits(in: bytes, type: "application/octet-stream", redaction)
                exchange.events[index].kind = .message(.binary(edits.applied(to: bytes)), sender)
            }
            exchange.events[index].kind.replace(
                fields: { pseudonyms.replaced($0, redaction) },
                text: { text in
                    let bytes = Array(text.utf8)
                    let edits = pseudonyms.edits(in: bytes, type: nil, redaction)
                    return String(decoding: edits.applied(to: bytes), as: UTF8.self)
                })
        }
        return exchange
    }
}
