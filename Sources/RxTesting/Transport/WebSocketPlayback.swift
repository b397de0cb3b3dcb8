import HTTPTypes
import RxHTTP
import RxLite
import RxWebSocket

/// One running scripted WebSocket: the server's end, in its subscription's lane.
final class WebSocketPlayback: @unchecked Sendable {
    // Unchecked: the variables are accessed only inside the subscription's lane, which is serial.

    /// An action of the client, or the end of the exchange.
    enum Report {
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
    private var outcome = ScriptedTransport.Exchange.Outcome.cancelled
    /// Events that wait because the client does not read, in order; `nil` ends the connection.
    private var held: [TransferEvent?] = []
    /// The failure that ends the connection as soon as the client reads.
    private var breakage: NetworkError?

    /// - Parameter limits: the time limits of the exchange, if it has begun before. Default those of the request.
    /// - Parameter report: takes what the client does; an error breaks the connection.
    init(
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

    func start() {
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
    func fail(with error: NetworkError) {
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
            limits?.note(.open)
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

    // MARK: The client's messages

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

    // MARK: The steps

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
