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
    /// Received bytes; the first ``offset`` have been parsed.
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
            random: RandomSource.simulated == nil ? SystemRandomBlocks() : RandomSource())
        self.output = output
        self.trace = trace
    }

    /// Whether messages can be sent.
    var isOpen: Bool { state.phase == .open }

    /// Records that the connection has ended.
    func end() { state.end() }

    // MARK: - Receiving

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
        if case .message(let message) = input { trace?.emit(.webSocket(message, isSent: false)) }
        return input
    }

    /// Whether nothing more may be read before the network has taken replies: a server that sends pings and reads
    /// nothing must not fill the memory.
    var isChoked: Bool { output.isPaused && waitingReplies >= Self.replyLimit }

    private static let replyLimit = 64 << 10

    // MARK: - Sending

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
            trace?.emit(.webSocket(message, isSent: true))
        case .ping(let payload): try state.ping(payload, into: &bytes)
        case .close(let code, let reason): try state.close(code, reason: reason, into: &bytes)
        }
    }
}

// MARK: - Output

/// The bytes that a WebSocket sends, as the stream that the transport takes them from.
final class WebSocketOutput: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial.

    private let lane: Lane
    private let scheduler: any Scheduler
    @safe @exclusivity(unchecked) private var observer: Observer<[UInt8], NetworkError>?
    /// Bytes written before the transport takes them.
    @safe @exclusivity(unchecked) private var early: [UInt8] = []

    init(feeding lane: Lane, on scheduler: any Scheduler) {
        self.lane = lane
        self.scheduler = scheduler
    }

    /// The stream.
    ///
    /// - Parameter onChange: called when the transport takes bytes, takes them again after a pause, or takes no more.
    func stream(onChange: @escaping @Sendable () -> Void) -> Observable<[UInt8], NetworkError> {
        Observable { observer in
            // Outside the transport's lane: inside it, writes could only be queued, and would not fill it.
            let notify: @Sendable () -> Void = { self.scheduler.schedule { self.lane.enter { onChange() } } }
            observer.scope.onResume(notify)
            observer.scope.onClose(notify)
            self.lane.enter {
                self.observer = observer
                self.write([])
            }
            notify()
        }
    }

    /// Whether the transport takes nothing for now.
    var isPaused: Bool { !isLost && (observer?.scope.isPaused ?? true) }

    /// Whether the transport takes no more, because the connection is broken.
    var isLost: Bool { observer.map { !$0.scope.isOpen } ?? false }

    func write(_ bytes: [UInt8]) {
        guard let observer else { return early += bytes }
        var bytes = bytes
        if !early.isEmpty {
            bytes = early + bytes
            early = []
        }
        guard !bytes.isEmpty else { return }
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(bytes) }
            scope.lane.leave()
        } else {
            scope.lane.enqueue { [bytes] in if scope.isOpen { observer.next(bytes) } }
        }
    }

    func close() { observer = nil }
}

// MARK: - Heartbeat

/// Notices that the peer of a connection is gone: sends a ping after silence, and reports a loss when there is
/// silence after the ping as well.
final class WebSocketHeartbeat: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial.

    private let interval: Duration
    private let timeout: Duration
    private let timer: OperatorTimer
    /// Whether anything has arrived since the last look.
    @safe @exclusivity(unchecked) private var hasReceived = false
    /// Whether the last look has sent a ping: the next one comes after ``timeout``, and silence until then is
    /// a loss.
    @safe @exclusivity(unchecked) private var awaitsPong = false

    init(every interval: Duration, timeout: Duration, _ timer: OperatorTimer) {
        self.interval = interval
        self.timeout = timeout
        self.timer = timer
    }

    func didReceive() { hasReceived = true }

    /// Looks after each interval.
    ///
    /// - Parameters:
    ///   - isWaived: whether silence means nothing, because nothing is read.
    ///   - ping: sends a ping.
    ///   - onLoss: called once, after the last look.
    func start(
        isWaived: @escaping @Sendable () -> Bool, ping: @escaping @Sendable () -> Void,
        onLoss: @escaping @Sendable () -> Void
    ) {
        timer.set(after: awaitsPong ? timeout : interval) {
            let isAlive = self.hasReceived || isWaived()
            if !isAlive, self.awaitsPong { return onLoss() }
            if !isAlive { ping() }
            self.awaitsPong = !isAlive
            self.hasReceived = false
            self.start(isWaived: isWaived, ping: ping, onLoss: onLoss)
        }
    }
}
