import HTTPTypes
public import RxHTTP
package import RxLite
public import RxWebSocket

/// The server's end of a WebSocket, scripted in virtual time.
///
/// ```swift
/// let transport = ScriptedTransport(on: clock, [
///     .when(.get, "/chat", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))
/// ])
/// ```
///
/// It reads and answers frames by the same rules as a real server: pings are answered, a close frame is
/// answered and ends the connection. ``ScriptedTransport/Exchange/messages`` records what the client sends, and
/// ``ScriptedTransport/Exchange/closeCode`` the code of its close frame.
///
/// A list of replies in a rule gives each connection its script. An open connection sends pings for as long
/// as it is open, so advance the clock by a time (``VirtualScheduler/advance(by:)``) unless the script ends
/// it.
public struct ScriptedWebSocket: Sendable {
    /// One step of the server.
    public enum Step: Sendable {
        /// Time passes.
        case wait(Duration)
        /// Waits for a message from the client that no earlier step has consumed.
        case receive
        /// Sends a message.
        case send(WebSocketMessage)
        /// Sends a ping.
        case ping([UInt8])
        /// Sends back every message of the client from now on; the last step.
        case echo
        /// Reads nothing from now on: pings and close frames stay unanswered.
        case ignore
        /// Sends a close frame, and ends the connection when the client has answered.
        case close(WebSocketCloseCode, reason: String = "")
        /// Sends raw bytes, for frames that a server must not send.
        case bytes([UInt8])
        /// Ends the connection without a close frame.
        case end
        /// The connection fails.
        case fail(NetworkError)
    }

    /// The steps, in order. After the last one the server sends no more messages; it still answers pings and
    /// close frames.
    public var steps: [Step]
    /// The subprotocols that the server knows; it chooses the first that is offered.
    public var subprotocols: [String]
    /// The compression that the server accepts.
    public var compression: WebSocketCompression
    /// The time before the response to the handshake.
    package var delay = Duration.zero

    /// Creates a script.
    ///
    /// - Parameters:
    ///   - steps: the steps, in order.
    ///   - subprotocols: the subprotocols that the server knows. Default none.
    ///   - compression: the compression that the server accepts. Default none.
    public init(
        _ steps: [Step], subprotocols: [String] = [], compression: WebSocketCompression = .off
    ) {
        self.steps = steps
        self.subprotocols = subprotocols
        self.compression = compression
    }
}

extension ScriptedTransport.Reply {
    /// A WebSocket whose server follows the steps; see ``ScriptedWebSocket``.
    public static func webSocket(_ steps: ScriptedWebSocket.Step...) -> Self {
        .webSocket(ScriptedWebSocket(steps))
    }

    /// A WebSocket whose server follows the script.
    public static func webSocket(_ script: ScriptedWebSocket) -> Self {
        var reply = Self([])
        reply.webSocket = script
        return reply
    }
}

/// One running scripted WebSocket: the server's end, in its subscription's lane.
package final class WebSocketPlayback: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.

    /// An action of the client, or the end of the exchange.
    package enum Report {
        case message(WebSocketMessage)
        case closing(WebSocketCloseCode)
        case end(ScriptedTransport.Exchange.Outcome)
    }

    private let script: ScriptedWebSocket
    private let request: Request
    private let observer: Observer<TransferEvent, NetworkError>
    private let clock: any Scheduler
    private let report: @Sendable (Report) -> NetworkError?
    private var limits: ExchangeLimits?
    private var state: WebSocketConnectionState?
    private var next = 0
    private var timer: (any Cancellable)?
    /// Messages of the client that no step has waited for.
    private var received: [WebSocketMessage] = []
    private var isEchoing = false
    private var isIgnoring = false
    /// The outcome that is reported when the scope closes: a cancel, unless the exchange has ended before.
    private var outcome = ScriptedTransport.Exchange.Outcome.cancelled
    /// Events that wait because the client does not read, in order; `nil` ends the connection.
    private var held: [TransferEvent?] = []
    /// The failure that ends the connection as soon as the client reads.
    private var breakage: NetworkError?

    /// - Parameter limits: the time limits of the exchange, if it has begun before. Default those of the request.
    /// - Parameter report: takes what the client does; an error breaks the connection.
    package init(
        _ script: ScriptedWebSocket, of request: Request,
        to observer: Observer<TransferEvent, NetworkError>, on clock: any Scheduler,
        limits: ExchangeLimits? = nil,
        report: @escaping @Sendable (Report) -> NetworkError?
    ) {
        self.script = script
        self.request = request
        self.observer = observer
        self.clock = clock
        self.limits = limits
        self.report = report
    }

    package func start() {
        observer.scope.onClose {
            self.timer?.cancel()
            _ = self.report(.end(self.outcome))
        }
        observer.scope.onResume { self.run() }
        let limits =
            limits
            ?? ExchangeLimits(request.timeouts, on: clock, in: observer.scope) { [weak self] error in
                self?.fail(with: error)
            }
        self.limits = limits
        limits.enter(.waiting)
        wait(script.delay)
    }

    /// Breaks the connection. Called inside the lane.
    package func fail(with error: NetworkError) {
        isIgnoring = true
        breakage = error
        if !observer.scope.isPaused { fail(error) }
    }

    private func wait(_ delay: Duration) {
        timer = clock.schedule(after: delay) {
            self.observer.scope.enter {
                self.timer = nil
                if self.state == nil { self.open() }
                self.run()
            }
        }
    }

    private func open() {
        guard let upgrade = request.upgrade else {
            return fail(
                NetworkError(
                    .unscripted,
                    "the rule scripts a WebSocket, but the request is not a WebSocket handshake"))
        }
        do throws(WebSocketHandshakeError) {
            let (fields, agreement) = try WebSocketHandshake.answer(
                to: request.headerFields, subprotocols: script.subprotocols, compression: script.compression)
            state = WebSocketConnectionState(role: .server, deflate: agreement.deflate)
            limits?.record(.open)
            emit(.head(ResponseHead(status: .switchingProtocols, headerFields: fields)))
        } catch {
            return fail(NetworkError(.unscripted, "\(error)"))
        }
        let input = Scope(lane: Lane(scheduler: clock))
        observer.scope.onClose { input.cancel() }
        input.lane.enter {
            upgrade.output.subscribe(
                Observer(
                    scope: input,
                    next: { bytes in self.observer.scope.enter { self.take(bytes) } },
                    end: { _ in input.close() }))
        }
    }

    // MARK: - The client's messages

    private func take(_ bytes: [UInt8]) {
        guard !isIgnoring else { return }
        var replies: [UInt8] = []
        var inputs: [WebSocketInput] = []
        state?.receive(bytes, replies: &replies) { inputs.append($0) }
        var isOver = false
        for input in inputs {
            switch input {
            case .message(let message):
                if let error = report(.message(message)) { return fail(with: error) }
                received.append(message)
            case .close(let code, reason: _):
                if let error = report(.closing(code ?? .noStatus)) { return fail(with: error) }
                isOver = true
            case .violation: isOver = true
            case .ping, .pong: break
            }
        }
        send(replies)
        if isOver { end() } else { run() }
    }

    // MARK: - The steps

    private func run() {
        while !held.isEmpty, observer.scope.isOpen, !observer.scope.isPaused { pass(held.removeFirst()) }
        if let breakage, observer.scope.isOpen, !observer.scope.isPaused { return fail(breakage) }
        while observer.scope.isOpen, !observer.scope.isPaused, state != nil, timer == nil {
            if isEchoing {
                guard !received.isEmpty else { return }
                send(received.removeFirst())
            } else if next < script.steps.count {
                guard take(script.steps[next]) else { return }
            } else {
                return
            }
        }
    }

    /// Performs a step; false if it must wait.
    private func take(_ step: ScriptedWebSocket.Step) -> Bool {
        if case .receive = step {
            guard !received.isEmpty else { return false }
            received.removeFirst()
        }
        next += 1
        var bytes: [UInt8] = []
        switch step {
        case .receive: break
        case .wait(let delay): if delay > .zero { wait(delay) }
        case .send(let message): send(message)
        case .ping(let payload): try? state?.ping(payload, into: &bytes)
        case .echo: isEchoing = true
        case .ignore: isIgnoring = true
        case .close(let code, let reason): try? state?.close(code, reason: reason, into: &bytes)
        case .bytes(let raw): bytes = raw
        case .end: end()
        case .fail(let error): fail(error)
        }
        send(bytes)
        return true
    }

    private func send(_ message: WebSocketMessage) {
        var bytes: [UInt8] = []
        try? state?.send(message, into: &bytes)
        send(bytes)
    }

    private func send(_ bytes: [UInt8]) {
        if !bytes.isEmpty { emit(.chunk(bytes)) }
    }

    private func end() {
        isIgnoring = true
        emit(nil)
    }

    /// Passes an event on, or holds it until the client reads.
    private func emit(_ event: TransferEvent?) {
        guard held.isEmpty, !observer.scope.isPaused else { return held.append(event) }
        pass(event)
    }

    private func pass(_ event: TransferEvent?) {
        guard observer.scope.isOpen else { return }
        if let event { return observer.next(event) }
        outcome = .finished
        observer.next(.finished(TransferMetrics()))
        if observer.scope.isOpen { observer.finish() }
    }

    private func fail(_ error: NetworkError) {
        outcome = .failed(error.code)
        observer.fail(error.attributed(to: request))
    }
}
