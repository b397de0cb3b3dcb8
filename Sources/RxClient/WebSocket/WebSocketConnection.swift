import HTTPTypes
import RxHTTP
import RxLite
import RxWebSocket

/// One connection of a WebSocket: opens it, parses what arrives, sends what waits in the outbox, and closes it.
///
/// The exchange runs in a separate lane, so that it can outlive the subscriber for as long as closing takes.
final class WebSocketConnection: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial;
    // nothing that leads back here is called while a variable is being changed.

    private let settings: WebSocketSettings
    private let outbox: WebSocketOutbox?
    /// The messages to send before those of the outbox.
    private let resumption: (@Sendable (WebSocketOpening) -> [WebSocketMessage])?
    private let call: CallContext
    private let observer: Observer<CallEvent, NetworkError>
    private let exchange: Scope
    private let timer: OperatorTimer
    private let output: WebSocketOutput

    @safe @exclusivity(unchecked) private var state: WebSocketConnectionState?
    /// Received bytes, of which the first ``offset`` have been parsed.
    @safe @exclusivity(unchecked) private var received: [UInt8] = []
    @safe @exclusivity(unchecked) private var offset = 0
    /// Whether parsing waits for the subscriber.
    @safe @exclusivity(unchecked) private var isHeld = false
    @safe @exclusivity(unchecked) private var isParsing = false
    @safe @exclusivity(unchecked) private var watchesResumption = false
    /// Whether the subscriber has got its end, or has left.
    @safe @exclusivity(unchecked) private var isOver = false
    /// Whether anything has arrived since the last look.
    @safe @exclusivity(unchecked) private var hasReceived = false
    @safe @exclusivity(unchecked) private var awaitsPong = false
    /// Whether the sink has asked for the end.
    @safe @exclusivity(unchecked) private var isClosing = false

    init(
        _ settings: WebSocketSettings, _ outbox: WebSocketOutbox?,
        resumption: (@Sendable (WebSocketOpening) -> [WebSocketMessage])?, in call: CallContext,
        into observer: Observer<CallEvent, NetworkError>
    ) {
        self.settings = settings
        self.outbox = outbox
        self.resumption = resumption
        self.call = call
        self.observer = observer
        let lane = Lane(scheduler: call.scheduler, feeding: observer.scope.lane)
        exchange = Scope(lane: lane)
        timer = OperatorTimer(call.scheduler, in: exchange)
        output = WebSocketOutput(feeding: lane)
    }

    private var lane: Lane { exchange.lane }

    // MARK: Opening

    func start(_ request: Request, _ handshake: WebSocketHandshake, _ next: Next) {
        observer.scope.onClose { self.lane.enter { self.leave() } }
        lane.enter {
            guard self.exchange.isOpen else { return }
            var request = request
            for field in handshake.fields { request.headerFields[field.name] = field.value }
            request.upgrade = ProtocolUpgrade(
                output: self.output.stream { self.lane.enter { self.pump() } })
            request.timeouts.attempt = nil
            request.timeouts.total = nil
            let exchange = self.exchange
            next.transfers(request).subscribe(
                Observer(
                    scope: exchange, next: { self.receive($0, handshake) },
                    end: { completion in
                        exchange.close()
                        self.receive(completion)
                    }))
        }
    }

    private func receive(_ event: TransferEvent, _ handshake: WebSocketHandshake) {
        switch event {
        case .head(let head): open(head, handshake)
        case .chunk(let bytes):
            hasReceived = true
            if offset == received.count {
                (received, offset) = (bytes, 0)
            } else {
                received += bytes
            }
            parse()
        case .uploaded, .redirected, .interim, .trailers, .finished: break
        }
    }

    private func open(_ head: ResponseHead, _ handshake: WebSocketHandshake) {
        let agreement: WebSocketAgreement
        do throws(WebSocketHandshakeError) {
            agreement = try handshake.verify(status: head.status.code, fields: head.headerFields)
        } catch {
            var failure = NetworkError(.invalidResponse, "no WebSocket: \(error)")
            failure.head = head
            finish(.failed(call.attributed(failure)))
            return exchange.close()
        }
        state = WebSocketConnectionState(
            role: .client, limits: settings.limits, deflate: agreement.deflate,
            frameSize: settings.frameSize ?? .max)
        var head = head
        head.decoder = call.client.configuration.decoder
        let opening = WebSocketOpening(
            head: head, subprotocol: agreement.subprotocol, isCompressed: agreement.deflate != nil)
        call.noteResponse()
        call.session?.noteSuccess(of: call.stamp)
        let first = resumption?(opening) ?? []
        var bytes: [UInt8] = []
        for message in first { try? state?.send(message, into: &bytes) }
        output.write(bytes)
        outbox?.connect { self.wake() }
        outbox?.state.value = .open
        emit(.opened(opening))
        pump()
        keepAlive()
    }

    // MARK: Receiving

    private func parse() {
        isParsing = true
        defer { isParsing = false }
        while !isHeld, exchange.isOpen, offset < received.count {
            var replies: [UInt8] = []
            // Guard: parsing calls nothing that could change the bytes.
            let input = unsafe state?.next(in: received.span.bytes, from: &offset, replies: &replies)
            if !replies.isEmpty { output.write(replies) }
            guard let input else { break }
            // What the subscriber sends in response goes out before the next frame is looked at.
            outbox?.noteWaking()
            take(input)
            pump()
        }
        if offset == received.count { (received, offset) = ([], 0) }
        // A peer that floods pings must wait until the pongs have been sent.
        if output.isPaused { hold() }
    }

    private func take(_ input: WebSocketInput) {
        switch input {
        case .message(.text(let text)): emit(.text(text))
        case .message(.binary(let bytes)): emit(.binary(bytes))
        case .ping(let payload): emit(.ping(payload))
        case .pong(let payload): emit(.pong(payload))
        case .close(let code, let reason):
            let code = code ?? .noStatus
            emit(.closing(code, reason: reason))
            end(isClosing || code.isSuccess ? .finished : .failed(closed(code, reason)))
        case .violation(let violation):
            var error = NetworkError(.webSocketProtocol, "\(violation.message)")
            error.closeCode = Int(violation.code.rawValue)
            end(.failed(call.attributed(error)))
        }
    }

    private func closed(_ code: WebSocketCloseCode, _ reason: String) -> NetworkError {
        var error = NetworkError(
            .webSocketClosed, "the server closed with \(code)" + (reason.isEmpty ? "" : ": \(reason)"))
        error.closeCode = Int(code.rawValue)
        return call.attributed(error)
    }

    private func receive(_ completion: Completion<NetworkError>) {
        state?.end()
        output.close()
        guard !isOver else { return }
        guard state != nil else { return finish(completion) }
        guard !isClosing else { return finish(.finished) }
        var error = NetworkError(.connectionLost, "the connection ended without a close frame")
        if case .failed(let cause) = completion { error = cause }
        error.closeCode = Int(WebSocketCloseCode.abnormalClosure.rawValue)
        finish(.failed(call.attributed(error)))
    }

    // MARK: The subscriber

    private func emit(_ event: WebSocketEvent) {
        guard !isOver else { return }
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(.output(event)) }
            scope.lane.leave()
        } else {
            scope.lane.enqueue { [observer] in if observer.scope.isOpen { observer.next(.output(event)) } }
        }
        if scope.isPaused { hold() }
    }

    /// Stops reading until the subscriber, or the network, takes more.
    private func hold() {
        guard !isHeld, exchange.isOpen, !isOver else { return }
        isHeld = true
        exchange.pause()
        guard !watchesResumption else { return }
        watchesResumption = true
        observer.scope.lane.enter { [observer] in
            observer.scope.onResume { self.lane.enter { self.resume() } }
            // It may have resumed before this was registered.
            if !observer.scope.isPaused { self.lane.enter { self.resume() } }
        }
    }

    private func resume() {
        guard isHeld, isOver || !observer.scope.isPaused && !output.isPaused else { return }
        isHeld = false
        if !isParsing { parse() }
        // Undoes the pause before; a new one keeps the exchange paused.
        if exchange.isOpen { exchange.resume() }
    }

    /// Delivers the end; the exchange goes on.
    private func finish(_ completion: Completion<NetworkError>) {
        guard !isOver else { return }
        isOver = true
        timer.cancel()
        outbox?.connect(nil)
        observer.scope.enter { [observer] in observer.end(completion) }
    }

    /// Delivers the end, and lets the server end the connection for a while (RFC 6455 §7.1.1).
    private func end(_ completion: Completion<NetworkError>) {
        finish(completion)
        linger()
    }

    /// Ends because the subscriber has left.
    private func leave() {
        guard !isOver else { return }
        isOver = true
        timer.cancel()
        outbox?.connect(nil)
        guard exchange.isOpen, state?.phase == .open else { return exchange.close() }
        var bytes: [UInt8] = []
        try? state?.close(into: &bytes)
        output.write(bytes)
        if isHeld { resume() }
        linger()
    }

    private func linger() {
        guard exchange.isOpen else { return }
        timer.set(after: settings.closeTimeout) { self.exchange.close() }
    }

    // MARK: Sending

    /// Called by senders on any thread.
    private func wake() {
        if lane.tryEnter() {
            pump()
            lane.leave()
        } else {
            lane.enqueue { self.pump() }
        }
    }

    /// Sends what waits in the outbox, as long as the network takes it. Small messages go out together.
    private func pump() {
        guard let outbox, state?.phase == .open, !isOver else { return }
        outbox.noteTaking()
        while !output.isPaused, exchange.isOpen, let first = outbox.next() {
            var bytes: [UInt8] = []
            var sent: [WebSocketOutbox.Entry] = []
            var entry: WebSocketOutbox.Entry? = first
            while let taken = entry {
                if send(taken, into: &bytes) { sent.append(taken) }
                entry = bytes.count < Self.batchSize ? outbox.next() : nil
            }
            output.write(bytes)
            for entry in sent { entry.succeed() }
        }
        if isHeld { resume() }
    }

    /// The number of bytes from which on no further message is added to a write.
    private static let batchSize = 16 << 10

    private func send(_ entry: WebSocketOutbox.Entry, into bytes: inout [UInt8]) -> Bool {
        do throws(WebSocketSendRefusal) {
            switch entry.content {
            case .message(let message): try state?.send(message, into: &bytes)
            case .ping(let payload): try state?.ping(payload, into: &bytes)
            case .close(let code, let reason):
                try state?.close(code, reason: reason, into: &bytes)
                isClosing = true
                timer.set(after: settings.closeTimeout) {
                    self.end(.finished); self.exchange.close()
                }
            }
            return true
        } catch {
            let code: NetworkError.Code = error == .closing ? .webSocketClosed : .invalidParameters
            entry.fail(NetworkError(code, "\(error)"))
            return false
        }
    }

    // MARK: Silence

    private func keepAlive() {
        guard let interval = settings.pingInterval, !isOver, !isClosing else { return }
        timer.set(after: awaitsPong ? settings.pongTimeout : interval) { self.checkSilence() }
    }

    private func checkSilence() {
        // Nothing is read while the subscriber pauses, so silence means nothing then.
        let isAlive = hasReceived || isHeld
        hasReceived = false
        if isAlive {
            awaitsPong = false
        } else if awaitsPong {
            let error = NetworkError(
                .idleTimeout, "idle timeout: no answer to a ping within \(settings.pongTimeout)")
            finish(.failed(call.attributed(error)))
            return exchange.close()
        } else {
            awaitsPong = true
            var bytes: [UInt8] = []
            try? state?.ping(into: &bytes)
            output.write(bytes)
        }
        keepAlive()
    }
}

extension WebSocketCloseCode {
    /// Whether a stream that the server closes with the code finishes rather than fails.
    var isSuccess: Bool { [.normalClosure, .goingAway, .noStatus].contains(self) }
}
