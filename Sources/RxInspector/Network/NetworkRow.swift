#if Inspector
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxWebSocket

/// One row of the Network panel: an exchange, with the redirects that led to it.
struct NetworkRow {
    /// The id in the protocol.
    let id: String
    /// The current hop.
    private(set) var shown: ShownExchange
    /// The exchange of the current hop.
    private(set) var exchange: TrafficEvent.ExchangeID
    /// The `Network.ResourceType`.
    var type: ResourceType
    let initiator: JSON
    /// The time when the current hop was sent.
    var sentAt: Duration
    /// The response of the current hop.
    var head: ResponseHead?
    /// Its header fields, as a `Network.Headers` object.
    var responseHeaders: JSON = [:]
    var headAt = Duration.zero
    var headDate = 0.0
    /// Whether the front ends have not been told of the response.
    var hasUntoldHead = false
    /// The decoded body, up to the limit.
    private(set) var body: [UInt8] = []
    /// The number of bytes of the decoded body.
    private(set) var bodyCount = 0
    /// Whether bytes of the body are missing, so that further ones would be at a wrong place.
    private var isBodyCut = false
    /// The bytes that the front ends have not been told of.
    var untoldCount = 0
    /// Whether the front ends have been told of the end. The log drops such rows first.
    var hasEnded = false
    var events: EventStreamParser?
    /// The end of a response that redirects, as long as it is not known whether it is followed.
    var heldEnd: HeldEnd?

    /// Messages for front ends that come later: those of the beginning, the most recent ones of a stream, and the end.
    var opening: [[UInt8]] = []
    private(set) var stream: [[UInt8]] = []
    private var streamByteCount = 0
    var closing: [[UInt8]] = []
    /// The number of bytes of the kept messages.
    private var messageByteCount = 0

    enum HeldEnd {
        case finished(TransferMetrics, Duration)
        case abandoned(Duration)
    }

    /// The phase of a row in which a message was sent.
    enum Phase {
        case opening, stream, closing
    }

    /// The maximum number of messages of a stream that are kept.
    private static let streamLimit = 2000
    /// The maximum number of bytes of them.
    private static let streamByteLimit = 4 << 20

    init(
        id: String, _ shown: ShownExchange, exchange: TrafficEvent.ExchangeID, _ type: ResourceType,
        _ initiator: JSON,
        sentAt: Duration
    ) {
        self.id = id
        self.shown = shown
        self.exchange = exchange
        self.type = type
        self.initiator = initiator
        self.sentAt = sentAt
    }

    /// The bytes that the row takes, approximately.
    var byteCount: Int {
        1024 + messageByteCount + shown.byteCount + body.count + (head?.fieldLines.count ?? 0)
            + responseHeaders.textCount
    }

    /// Whether the response would be followed by another request.
    var isRedirecting: Bool {
        guard let head else { return false }
        return head.status.kind == .redirection && head[.location] != nil
    }

    var isWebSocket: Bool { type == .webSocket }

    /// Whether the response may end soon: it is no stream.
    var isShort: Bool { !isWebSocket && type != .eventSource }

    /// Keeps a message.
    mutating func keep(_ message: [UInt8], _ phase: Phase) {
        messageByteCount += message.count
        switch phase {
        case .opening: opening.append(message)
        case .closing: closing.append(message)
        case .stream:
            stream.append(message)
            streamByteCount += message.count
            guard stream.count > Self.streamLimit || streamByteCount > Self.streamByteLimit else { return }
            let dropped = stream.prefix((stream.count + 1) / 2)
            let count = dropped.reduce(0) { $0 + $1.count }
            messageByteCount -= count
            streamByteCount -= count
            stream.removeFirst(dropped.count)
        }
    }

    /// Keeps the beginning of the body.
    mutating func keep(body bytes: [UInt8], limit: Int) {
        bodyCount += bytes.count
        guard !isBodyCut else { return }
        body += bytes.prefix(max(0, limit - body.count))
    }

    /// Counts bytes of the body, or of messages, that are not known. The events of the stream end with them.
    mutating func omit(_ count: Int) {
        bodyCount += count
        isBodyCut = true
        events = nil
    }

    /// Counts the bytes of a message.
    mutating func count(_ message: WebSocketMessage) { bodyCount += message.count }

    /// Begins the next hop.
    mutating func redirect(to hop: ShownExchange, exchange: TrafficEvent.ExchangeID, at time: Duration) {
        (shown, self.exchange) = (hop, exchange)
        sentAt = time
        head = nil
        responseHeaders = [:]
        hasUntoldHead = false
        heldEnd = nil
        body = []
        bodyCount = 0
        isBodyCut = false
        untoldCount = 0
    }

    /// All messages, for a front end that comes later.
    var replay: [[UInt8]] {
        let received: [[UInt8]] =
            bodyCount > 0 && !isWebSocket
            ? [NetworkMessage.dataReceived(self, count: bodyCount, at: headAt).bytes] : []
        return opening + stream + received + closing
    }
}

/// The steps of a row. Each returns the messages to send, with the phase in which they are kept.
extension NetworkRow {
    typealias Told = (message: JSON, phase: Phase?)

    func tellRequest(
        _ event: TrafficEvent, _ issuedAt: Duration, _ redirect: JSON?, _ postDataLimit: Int
    ) -> Told {
        (
            NetworkMessage.requestWillBeSent(
                self, issuedAt: issuedAt,
                // The wall clock at the time of the issue.
                date: event.date - (event.time - issuedAt) / .seconds(1), redirect: redirect,
                postDataLimit: postDataLimit),
            .opening
        )
    }

    /// Tells of a request that reaches the network, with the fields as sent.
    func tellHop(
        _ event: TrafficEvent, _ issuedAt: Duration, _ redirect: JSON?, _ postDataLimit: Int
    ) -> [Told] {
        [
            tellRequest(event, issuedAt, redirect, postDataLimit),
            (NetworkMessage.requestExtraInfo(self), .opening),
        ]
    }

    /// The metrics of a response that redirects.
    var heldMetrics: TransferMetrics? {
        if case .finished(let metrics, _) = heldEnd { metrics } else { nil }
    }

    mutating func receive(_ head: ResponseHead, at time: Duration, _ date: Date) {
        self.head = head
        responseHeaders = shown.headers(of: head)
        headAt = time
        headDate = date.timeIntervalSince1970
        hasUntoldHead = true
        type = isWebSocket ? .webSocket : ResourceType(head) ?? type
        if type == .eventSource { events = EventStreamParser(limit: Self.eventLimit) }
    }

    /// The maximum number of bytes of an event of an event stream: the default of the client.
    private static let eventLimit = 1 << 20

    /// Records that so many bytes of the body, or of the messages, are not known.
    mutating func omit(_ count: Int, at time: Duration) -> [Told] {
        omit(count)
        guard !isWebSocket else { return [] }
        return tellHead(nil) + [(NetworkMessage.dataReceived(self, count: count, at: time), nil)]
    }

    mutating func receive(_ bytes: [UInt8], limit: Int, at time: Duration) -> [Told] {
        // The frames of a WebSocket; its messages are shown instead.
        guard head?.status != .switchingProtocols else { return [] }
        keep(body: bytes, limit: limit)
        // Told together with the head, at the end of the batch at the latest.
        if hasUntoldHead, isRedirecting || events == nil {
            untoldCount += bytes.count
            return []
        }
        var told = tellHead(nil)
        told.append((NetworkMessage.dataReceived(self, count: bytes.count, at: time), nil))
        guard events != nil else { return told }
        var found: [EventStreamParser.Output] = []
        do throws(NetworkError) {
            try events?.read(bytes, into: &found)
        } catch {
            // The client fails at the same place, and tells why.
            events = nil
        }
        for case .event(let event) in found {
            told.append((NetworkMessage.eventReceived(self, event, at: time), .stream))
        }
        return told
    }

    /// Tells of the response, if it is new.
    mutating func tellHead(_ metrics: TransferMetrics?) -> [Told] {
        guard hasUntoldHead else { return [] }
        hasUntoldHead = false
        guard !isWebSocket else { return [(NetworkMessage.webSocketResponse(self), .opening)] }
        var told: [Told] = [
            (NetworkMessage.responseExtraInfo(self), .opening),
            (NetworkMessage.responseReceived(self, metrics), .opening),
        ]
        if untoldCount > 0 {
            told.append((NetworkMessage.dataReceived(self, count: untoldCount, at: headAt), nil))
        }
        untoldCount = 0
        return told
    }

    mutating func tellEnd(_ metrics: TransferMetrics, at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(metrics)
        guard !isWebSocket else { return told + [(NetworkMessage.webSocketClosed(self, at: time), .closing)] }
        let count = metrics.headBytesReceived + metrics.bodyBytesReceived
        return told + [(NetworkMessage.finished(self, encodedCount: count, at: time), .closing)]
    }

    mutating func tellFailure(_ error: NetworkError, at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(nil)
        guard !isWebSocket else {
            return told + [
                (NetworkMessage.webSocketError(self, error.shown, at: time), .closing),
                (NetworkMessage.webSocketClosed(self, at: time), .closing),
            ]
        }
        return told + [(NetworkMessage.failed(self, error.shown, at: time), .closing)]
    }

    mutating func tellAbandonment(at time: Duration) -> [Told] {
        defer { hasEnded = true }
        let told = tellHead(nil)
        guard !isWebSocket else { return told + [(NetworkMessage.webSocketClosed(self, at: time), .closing)] }
        return told + [(NetworkMessage.failed(self, "abandoned", at: time, isCancelled: true), .closing)]
    }
}
#endif
