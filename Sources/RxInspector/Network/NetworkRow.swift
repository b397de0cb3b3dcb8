#if Inspector
import HTTPTypes
import RxHTTP

/// One row of the Network panel: an exchange, with the redirects that led to it.
struct NetworkRow {
    /// The id in the protocol.
    let id: String
    /// The client's name for the request, for the console.
    var shown: ShownExchange
    /// The `Network.ResourceType`.
    var type: ResourceType
    let initiator: JSON
    /// The time when the current hop was sent.
    var sentAt: Duration
    /// The response of the current hop.
    var head: ResponseHead?
    var headAt = Duration.zero
    var headDate = 0.0
    /// Whether the front ends have not been told of the response.
    var hasNewHead = false
    /// The decoded body, up to the limit.
    var body: [UInt8] = []
    /// The number of bytes of the decoded body.
    var bodyCount = 0
    /// The bytes that the front ends have not been told of.
    var untoldCount = 0
    var hasEnded = false
    var events: EventStreamParser?
    /// The end of a response that redirects, as long as it is not known whether it is followed.
    var heldEnd: HeldEnd?

    /// Messages for front ends that come later: those of the beginning, the most recent ones of a stream, and the end.
    var opening: [[UInt8]] = []
    var stream: [[UInt8]] = []
    var closing: [[UInt8]] = []
    /// The bytes that the row takes, approximately.
    private(set) var byteCount = 1024

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

    init(id: String, _ shown: ShownExchange, _ type: ResourceType, _ initiator: JSON, sentAt: Duration) {
        self.id = id
        self.shown = shown
        self.type = type
        self.initiator = initiator
        self.sentAt = sentAt
        if case .bytes(let bytes) = shown.request.body { byteCount += bytes.count }
    }

    /// Whether the response would be followed by another request.
    var isRedirecting: Bool {
        guard let head else { return false }
        return head.status.kind == .redirection && head[.location] != nil
    }

    var isWebSocket: Bool { type == .webSocket }

    /// Keeps a message.
    mutating func keep(_ message: [UInt8], _ phase: Phase) {
        byteCount += message.count
        switch phase {
        case .opening: opening.append(message)
        case .closing: closing.append(message)
        case .stream:
            stream.append(message)
            guard stream.count > Self.streamLimit else { return }
            byteCount -= stream.prefix(Self.streamLimit / 2).reduce(0) { $0 + $1.count }
            stream.removeFirst(Self.streamLimit / 2)
        }
    }

    /// Keeps the beginning of the body.
    mutating func keep(body bytes: [UInt8], limit: Int) {
        bodyCount += bytes.count
        let part = bytes.prefix(max(0, limit - body.count))
        body += part
        byteCount += part.count
    }

    /// Begins the next hop.
    mutating func redirect(to request: Request, at time: Duration) {
        shown = ShownExchange(request: request, showsSecrets: shown.showsSecrets)
        sentAt = time
        head = nil
        hasNewHead = false
        heldEnd = nil
        body = []
        bodyCount = 0
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
#endif
