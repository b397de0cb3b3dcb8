import HTTPTypes
import RxHTTP
import RxWebSocket

/// The script of a recorded exchange.
struct ReplayScript {
    private let exchange: Cassette.Exchange
    private let factor: Double

    init(_ exchange: Cassette.Exchange, _ timing: ReplayRules.Timing) {
        self.exchange = exchange
        factor =
            switch timing {
            case .recorded: 1
            case .scaled(let factor): factor.isFinite ? max(0, factor) : 1
            case .atOnce: 0
            }
    }

    private func wait(_ time: Duration) -> Duration { factor == 1 ? time : time * factor }

    /// The steps of an exchange that is no WebSocket.
    var steps: [ScriptedTransport.Step] {
        var steps: [ScriptedTransport.Step] = []
        var now = Duration.zero
        for event in exchange.events {
            if event.time > now, factor > 0 { steps.append(.wait(wait(event.time - now))) }
            now = max(now, event.time)
            switch event.kind {
            case .uploaded(let bytes, let total): steps.append(.uploaded(bytes: bytes, of: total))
            case .interim(let head): steps.append(.interim(head))
            case .head(let head): steps.append(.head(head))
            case .chunk(let bytes): steps.append(.chunk(bytes))
            case .trailers(let fields): steps.append(.trailers(fields))
            case .finished: steps.append(.finish)
            case .failed(let failure): steps.append(.fail(failure.error))
            case .cancelled, .message, .close: steps.append(.stall)
            }
        }
        return steps + [.stall]
    }

    /// The server's end of a WebSocket. A message of the client is waited for; the next one of the server follows after
    /// the recorded interval.
    func webSocket(for request: Request) -> ScriptedWebSocket {
        var steps: [ScriptedWebSocket.Step] = []
        var now = Duration.zero
        var isClosing = false
        var delay = Duration.zero
        for event in exchange.events {
            if event.time > now, factor > 0, event.isOfServer { steps.append(.wait(wait(event.time - now))) }
            now = max(now, event.time)
            switch event.kind {
            case .message(_, .client): steps.append(.receive)
            case .message(let message, .server): steps.append(.send(message))
            case .close(_, _, .client): isClosing = true
            case .close(let code, let reason, .server):
                // The reply to the client's close frame is made without a step.
                guard !isClosing else { break }
                steps.append(code.map { .close($0, reason: reason) } ?? .bytes([0x88, 0]))
                isClosing = true
            case .failed(let failure): steps.append(.fail(failure.error))
            case .finished: if !isClosing { steps.append(.end) }
            case .head:
                // The handshake has no steps.
                delay = factor > 0 ? wait(event.time) : .zero
                steps = []
            case .uploaded, .interim, .chunk, .trailers, .cancelled: break
            }
        }
        var script = ScriptedWebSocket(steps)
        script.delay = delay
        let offered = (request.headerFields[.secWebSocketProtocol] ?? "").split(separator: ",").map {
            String($0.filter { $0 != " " })
        }
        if let chosen = exchange.head?[.secWebSocketProtocol] {
            script.subprotocols = offered.contains(chosen) ? [chosen] : offered
        }
        return script
    }
}

extension Cassette.Event {
    /// Whether the server determines when the event happens.
    fileprivate var isOfServer: Bool {
        switch kind {
        case .message(_, .client), .close(_, _, .client): false
        default: true
        }
    }
}
