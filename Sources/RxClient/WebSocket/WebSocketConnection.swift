import HTTPTypes
import RxHTTP
import RxLite
import RxWebSocket

/// One connection of a WebSocket, from the handshake to the end.
///
/// The exchange runs in a separate lane, so that it can outlive the subscriber for as long as closing takes.
final class WebSocketConnection: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial;
    // nothing that leads back here is called while a variable is being changed.

    private let reading: WebSocketReading
    private let call: CallContext
    private let observer: Observer<CallEvent, NetworkError>
    private let exchange: Scope
    /// Serves one wait at a time, each of which replaces the one before: the opening, the heartbeat, the
    /// server's close.
    private let timer: OperatorTimer
    private let heartbeat: WebSocketHeartbeat?
    private let output: WebSocketOutput

    /// Set once the server has agreed.
    @safe @exclusivity(unchecked) private var channel: WebSocketChannel?
    /// The events that the paused subscriber has not taken.
    @safe @exclusivity(unchecked) private var backlog = WebSocketBacklog()
    /// Whether parsing waits for the subscriber, because the backlog is full, or for the network to take replies.
    @safe @exclusivity(unchecked) private var isHeld = false
    /// Whether `parse()` is on the stack: `resume()` within it must not parse again, as its loop goes on.
    @safe @exclusivity(unchecked) private var isParsing = false
    /// Whether `drain()` is on the stack: the reading resumes only after it.
    @safe @exclusivity(unchecked) private var isDraining = false
    /// Whether `drain()` is called when the subscriber resumes; registered once, with the first kept event.
    @safe @exclusivity(unchecked) private var watchesResumption = false
    /// Whether the end of the stream is known, or the subscriber has left.
    @safe @exclusivity(unchecked) private var isOver = false
    /// Whether the sink has sent a close frame.
    @safe @exclusivity(unchecked) private var isClosing = false

    init(
        _ reading: WebSocketReading, in call: CallContext, into observer: Observer<CallEvent, NetworkError>
    ) {
        self.reading = reading
        self.call = call
        self.observer = observer
        let lane = Lane(scheduler: call.scheduler, feeding: observer.scope.lane)
        let exchange = Scope(lane: lane)
        self.exchange = exchange
        timer = lane.hold { OperatorTimer(call.scheduler, in: exchange) }
        heartbeat = reading.settings.pingInterval.map { [timer] interval in
            WebSocketHeartbeat(every: interval, timeout: reading.settings.pongTimeout, timer)
        }
        output = WebSocketOutput(feeding: lane, on: call.scheduler)
    }

    private var lane: Lane { exchange.lane }
    private var settings: WebSocketSettings { reading.settings }
    private var outlet: WebSocketOutlet? { reading.outlet }
    private var outbox: WebSocketOutbox? { outlet?.outbox }

    // MARK: - Opening

    func start(_ request: Request, _ handshake: WebSocketHandshake, _ next: Next) {
        observer.scope.onClose { self.lane.enter { self.leave() } }
        lane.enter {
            guard self.exchange.isOpen else { return }
            var request = request
            let fields = handshake.fields
            request.headerFields.reserveCapacity(request.headerFields.count + fields.count)
            for field in fields { request.headerFields[field.name] = field.value }
            request.upgrade = ProtocolUpgrade(
                output: self.output.stream { self.pump() })
            self.limitOpening(to: request.timeouts)
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

    /// The limits of whole attempts and calls apply until the server has agreed.
    private func limitOpening(to timeouts: Timeouts) {
        let limits: [(limit: Duration, code: NetworkError.Code)] = [
            timeouts.attempt.map { ($0, .attemptTimeout) }, timeouts.total.map { ($0, .totalTimeout) },
        ].compactMap { $0 }
        guard let (limit, code) = limits.min(by: { $0.limit < $1.limit }) else { return }
        timer.set(after: limit) {
            let error = NetworkError(code, "\(code.rawValue): no WebSocket within \(limit)")
            self.refuse(self.call.attributed(error))
        }
    }

    private func receive(_ event: TransferEvent, _ handshake: WebSocketHandshake) {
        switch event {
        case .head(let head): open(head, handshake)
        case .chunk(let bytes):
            heartbeat?.didReceive()
            channel?.append(bytes)
            parse()
        case .uploaded, .redirected, .interim, .trailers, .finished: break
        }
    }

    private func open(_ head: ResponseHead, _ handshake: WebSocketHandshake) {
        let agreement: WebSocketAgreement
        do throws(WebSocketHandshakeError) {
            agreement = try handshake.verify(status: head.status.code, fields: head.headerFields)
        } catch {
            var failure = call.attributed(NetworkError(.invalidResponse, "no WebSocket: \(error)"))
            failure.head = head
            return refuse(failure)
        }
        let channel = WebSocketChannel(agreement, settings, output, call.trace)
        self.channel = channel
        timer.cancel()
        var head = head
        head.decoder = call.client.configuration.decoder
        call.recordResponse()
        call.session?.recordSuccess(of: call.credentialVersion)
        // Before the sink is connected, so that its messages follow these.
        channel.send(reading.resumption?(head) ?? [])
        outlet?.connect(channel) { self.wake() }
        outlet?.show(.open)
        emit(
            .opened(head, subprotocol: agreement.subprotocol, isCompressed: agreement.deflate != nil))
        pump()
        keepAlive()
    }

    /// Ends the exchange, since there will be no WebSocket.
    private func refuse(_ error: NetworkError) {
        call.trace?.recordFailure(error)
        finish(.failed(error))
        exchange.close()
    }

    private func keepAlive() {
        guard !isOver, !isClosing else { return }
        heartbeat?.start(
            isWaived: { self.backlog.isFull }, ping: { self.channel?.ping() },
            onLoss: {
                let timeout = self.settings.pongTimeout
                let error = NetworkError(
                    .idleTimeout, "idle timeout: the server did not answer a ping within \(timeout)")
                self.finish(.failed(self.call.attributed(error)))
                self.exchange.close()
            })
    }

    // MARK: - Messages

    private func parse() {
        isParsing = true
        defer { isParsing = false }
        while !isHeld, exchange.isOpen, let channel, !channel.isChoked, let input = channel.next() {
            // The messages that the subscriber sends in response go out before the next frame is parsed.
            outbox?.recordWaking(of: channel)
            take(input)
            pump()
        }
        if channel?.isChoked == true { hold() }
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
            let error = NetworkError(closedWith: code, reason)
            end(isClosing || code.isSuccess ? .finished : .failed(call.attributed(error)))
        case .violation(let violation): end(.failed(call.attributed(NetworkError(violation))))
        }
    }

    /// Called by senders on any thread.
    private func wake() {
        if lane.tryEnter() {
            pump()
            lane.leave()
        } else {
            lane.enqueue { self.pump() }
        }
    }

    /// Sends what waits in the outbox.
    private func pump() {
        if let outbox, let channel, channel.isOpen, !isOver {
            outbox.recordTaking(by: channel)
            channel.drain(outbox)
            if !channel.isOpen, !isClosing { closeBySink() }
        }
        if isHeld { resume() }
    }

    /// The sink has sent a close frame: the server's is awaited.
    private func closeBySink() {
        isClosing = true
        outlet?.didSendClose()
        timer.set(after: settings.closeTimeout) {
            self.finish(.finished)
            self.exchange.close()
        }
    }

    // MARK: - The subscriber

    /// Delivers an event, or keeps it for a subscriber that has paused. Frames are parsed all the same, so that pings
    /// and close frames among them are answered.
    private func emit(_ event: WebSocketEvent) {
        guard !isOver else { return }
        guard backlog.isEmpty, !observer.scope.isPaused else {
            backlog.append(event)
            watchResumption()
            if backlog.isFull { hold() }
            return
        }
        deliver(event)
    }

    private func deliver(_ event: WebSocketEvent) {
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(.output(event)) }
            scope.lane.leave()
        } else {
            scope.lane.enqueue { [observer] in if observer.scope.isOpen { observer.next(.output(event)) } }
        }
    }

    /// Delivers what waits, as far as the subscriber takes it.
    private func drain() {
        isDraining = true
        while !observer.scope.isPaused, let event = backlog.popFirst() {
            if let channel { outbox?.recordWaking(of: channel) }
            deliver(event)
            pump()
        }
        isDraining = false
        deliverEnd()
        resume()
    }

    /// Delivers the end, if it is known and no event waits.
    private func deliverEnd() {
        guard let completion = backlog.completion else { return }
        guard backlog.isEmpty else { return }
        backlog.completion = nil
        observer.scope.enter { [observer] in observer.end(completion) }
    }

    private func watchResumption() {
        guard !watchesResumption else { return }
        watchesResumption = true
        observer.scope.lane.enter { [observer] in
            observer.scope.onResume { self.drainLater() }
            // It may have resumed before this was registered.
            if !observer.scope.isPaused { self.drainLater() }
        }
    }

    /// Delivers outside the subscriber's lane: inside it, events could only be queued, and a subscriber that pauses again
    /// would get them all.
    private func drainLater() { call.scheduler.schedule { self.lane.enter { self.drain() } } }

    /// Stops reading until the subscriber, or the network, takes more.
    private func hold() {
        guard !isHeld, exchange.isOpen else { return }
        isHeld = true
        exchange.pause()
    }

    private func resume() {
        guard isHeld, !isDraining, channel?.isChoked != true, isOver || !backlog.isFull else { return }
        isHeld = false
        if !isParsing { parse() }
        // Undoes the pause before; a new one keeps the exchange paused.
        if exchange.isOpen { exchange.resume() }
    }

    // MARK: - The end

    private func receive(_ completion: Completion<NetworkError>) {
        channel?.end()
        output.close()
        guard channel != nil else { return finish(completion) }
        guard !isClosing else { return finish(.finished) }
        var error = NetworkError(.connectionLost, "the connection ended without a close frame")
        if case .failed(let cause) = completion { error = cause }
        error.closeCode = Int(WebSocketCloseCode.abnormalClosure.rawValue)
        finish(.failed(call.attributed(error)))
    }

    /// Ends the stream after the events that wait; the exchange continues.
    private func finish(_ completion: Completion<NetworkError>) {
        guard depart() else { return }
        backlog.completion = completion
        deliverEnd()
    }

    /// Delivers the end, and lets the server end the connection for a while (RFC 6455 §7.1.1).
    private func end(_ completion: Completion<NetworkError>) {
        finish(completion)
        linger()
    }

    /// Ends because the subscriber has left.
    private func leave() {
        backlog = WebSocketBacklog()
        guard depart() else { return }
        guard exchange.isOpen, let channel else { return exchange.close() }
        // The sink may have sent a close frame; what waits before it goes out as well.
        if channel.isOpen { channel.close() }
        if isHeld { resume() }
        linger()
    }

    /// Records that no more events follow; false if that was so before.
    private func depart() -> Bool {
        guard !isOver else { return false }
        isOver = true
        timer.cancel()
        if let channel { outbox?.disconnect(channel) }
        return true
    }

    private func linger() {
        if exchange.isOpen { timer.set(after: settings.closeTimeout) { self.exchange.close() } }
    }
}

// MARK: - Paused subscribers

/// The events of a WebSocket that wait while its subscriber has paused, and the end that follows them.
struct WebSocketBacklog {
    /// The size from which on nothing more is read from the network, in bytes; the documentation says 1 MiB.
    static let limit = 1 << 20

    /// The cost of an event without its content, so that many small messages have a limit as well.
    private static let eventSize = 64

    /// The end of the stream, once the connection has ended.
    var completion: Completion<NetworkError>?
    /// The waiting events, from ``first`` on.
    private var events: [WebSocketEvent] = []
    private var first = 0
    private var size = 0

    var isEmpty: Bool { first == events.count }

    var isFull: Bool { size >= Self.limit }

    /// Adds an event. A ping or pong is dropped if half of the limit is used, so that these alone never stop the
    /// reading, by which pings are answered.
    mutating func append(_ event: WebSocketEvent) {
        guard size < Self.limit / 2 || !event.isPingOrPong else { return }
        size += event.contentSize + Self.eventSize
        events.append(event)
    }

    mutating func popFirst() -> WebSocketEvent? {
        guard !isEmpty else { return nil }
        let event = events[first]
        size -= event.contentSize + Self.eventSize
        first += 1
        if isEmpty {
            (events, first) = ([], 0)
        } else if first >= 1024, first * 2 >= events.count {
            events.removeFirst(first)
            first = 0
        }
        return event
    }
}

extension WebSocketEvent {
    fileprivate var isPingOrPong: Bool {
        switch self {
        case .ping, .pong: true
        default: false
        }
    }

    fileprivate var contentSize: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes), .ping(let bytes), .pong(let bytes): bytes.count
        case .opened, .closing, .reconnecting: 0
        }
    }
}

// MARK: - Errors

extension NetworkError {
    /// The error for a connection that the server has closed.
    init(closedWith code: WebSocketCloseCode, _ reason: String) {
        self.init(
            .webSocketClosed, "the server closed with \(code)" + (reason.isEmpty ? "" : ": \(reason)"))
        closeCode = Int(code.rawValue)
    }

    /// The error for a server that broke the protocol.
    init(_ violation: WebSocketViolation) {
        self.init(.webSocketProtocol, violation.message)
        closeCode = Int(violation.code.rawValue)
    }
}

extension WebSocketCloseCode {
    /// Whether a stream that the server closes with the code finishes rather than fails.
    var isSuccess: Bool { [.normalClosure, .goingAway, .noStatus].contains(self) }
}
