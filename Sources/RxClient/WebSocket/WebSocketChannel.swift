import RxHTTP
import RxLite
import RxWebSocket

/// The frames of an open connection: parses those that arrive, and builds those that go out.
final class WebSocketChannel: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial;
    // nothing that leads back here is called while a variable is being changed.

    private let output: WebSocketOutput
    private let trace: Trace?
    @safe @exclusivity(unchecked) private var state: WebSocketConnectionState
    /// Received bytes, of which the first ``offset`` have been parsed.
    @safe @exclusivity(unchecked) private var received: [UInt8] = []
    @safe @exclusivity(unchecked) private var offset = 0
    /// The number of bytes of replies that wait because the network takes nothing.
    @safe @exclusivity(unchecked) private var waitingReplies = 0

    init(
        _ agreement: WebSocketAgreement, _ settings: WebSocketSettings, _ output: WebSocketOutput,
        _ trace: Trace?
    ) {
        state = WebSocketConnectionState(
            role: .client, limits: settings.limits, deflate: agreement.deflate,
            frameSize: settings.frameSize ?? .max,
            random: Chance.source == nil ? SystemRandomBlocks() : Chance())
        self.output = output
        self.trace = trace
    }

    /// Whether messages can be sent.
    var isOpen: Bool { state.phase == .open }

    /// Notes that the connection has ended.
    func end() { state.end() }

    // MARK: Receiving

    /// Adds received bytes.
    func append(_ bytes: [UInt8]) {
        if offset == received.count {
            (received, offset) = (bytes, 0)
        } else {
            received += bytes
        }
    }

    /// The next item among the received bytes; `nil` if it is incomplete. Pings and close frames are answered.
    func next() -> WebSocketInput? {
        guard offset < received.count else { return nil }
        var replies: [UInt8] = []
        // Guard: parsing calls nothing that could change the bytes.
        let input = unsafe state.next(in: received.span.bytes, from: &offset, replies: &replies)
        waitingReplies = output.isPaused ? waitingReplies + replies.count : 0
        output.write(replies)
        if offset == received.count { (received, offset) = ([], 0) }
        if case .message(let message) = input { trace?.tell(.webSocket(.received, message)) }
        return input
    }

    /// Whether nothing more may be read before the network has taken replies: a server that sends pings and reads
    /// nothing must not fill the memory.
    var isChoked: Bool { output.isPaused && waitingReplies >= Self.replyLimit }

    private static let replyLimit = 64 << 10

    // MARK: Sending

    func send(_ messages: [WebSocketMessage]) {
        var bytes: [UInt8] = []
        for message in messages { try? send(.message(message), into: &bytes) }
        output.write(bytes)
    }

    func ping() { sendNow(.ping([])) }

    func close() { sendNow(.close(.normalClosure, reason: "")) }

    private func sendNow(_ content: WebSocketOutbox.Content) {
        var bytes: [UInt8] = []
        // Nothing is sent after a close frame.
        try? send(content, into: &bytes)
        output.write(bytes)
    }

    /// Sends what waits in the outbox, as long as the network takes it. Small messages go out together.
    func drain(_ outbox: WebSocketOutbox) {
        while isOpen, !output.isLost, !output.isPaused, let first = outbox.next(for: self) {
            var bytes: [UInt8] = []
            var sent: [WebSocketOutbox.Entry] = []
            var entry: WebSocketOutbox.Entry? = first
            while let taken = entry {
                do throws(WebSocketSendRefusal) {
                    try send(taken.content, into: &bytes)
                    sent.append(taken)
                } catch {
                    taken.fail(
                        NetworkError(error == .closing ? .webSocketClosed : .invalidParameters, "\(error)"))
                }
                entry = bytes.count < Self.batchSize ? outbox.next(for: self) : nil
            }
            output.write(bytes)
            if output.isLost {
                let error = NetworkError(.connectionLost, "the connection broke while the message was sent")
                for entry in sent { entry.fail(error) }
            } else {
                for entry in sent { entry.succeed() }
            }
        }
    }

    /// The number of bytes from which on no further message is added to a write.
    private static let batchSize = 16 << 10

    private func send(
        _ content: WebSocketOutbox.Content, into bytes: inout [UInt8]
    ) throws(WebSocketSendRefusal) {
        switch content {
        case .message(let message):
            try state.send(message, into: &bytes)
            trace?.tell(.webSocket(.sent, message))
        case .ping(let payload): try state.ping(payload, into: &bytes)
        case .close(let code, let reason): try state.close(code, reason: reason, into: &bytes)
        }
    }
}
