import HTTPTypes
import RxHTTP
import RxTesting
import RxWebSocket
import Synchronization

/// The script of a recorded exchange.
struct ReplayScript {
    private let exchange: Cassette.Exchange
    private let factor: Double

    init(_ exchange: Cassette.Exchange, _ timeScale: Double) {
        self.exchange = exchange
        factor = timeScale.isFinite ? max(0, timeScale) : 1
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
                // The bytes are a close frame without a code (RFC 6455 §5.5.1).
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

/// The client's side of one replayed WebSocket: compares the client's messages and the code of its close frame with the
/// recorded ones, in their order.
///
/// Secrets are masked on both sides, by the rules of the request. Where the recording has a placeholder, any secret fits;
/// a placeholder that the client sends must be one of the recorded message.
final class ReplayConversation: Sendable {
    private enum Item {
        case message(WebSocketMessage)
        case close(WebSocketCloseCode)
    }

    private struct Contents {
        var count = 0
        var hasMismatch = false
    }

    private let items: [Item]
    /// Whether the recording ended before the connection did, or the recorder notes no close frames.
    private let isOpenEnded: Bool
    private let request: Request
    private let number: Int
    private let comparesContents: Bool
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - exchange: the recorded exchange.
    ///   - number: its number, from 1.
    ///   - request: the handshake of the replay.
    init(_ exchange: Cassette.Exchange, number: Int, of request: Request, _ rules: ReplayRules) {
        items = exchange.events.compactMap { event in
            switch event.kind {
            case .message(let message, .client): .message(message)
            case .close(let code, _, .client): .close(code ?? .noStatus)
            default: nil
            }
        }
        isOpenEnded =
            switch exchange.events.last?.kind {
            case .finished, .failed: false
            default: true
            }
        self.request = request
        self.number = number
        comparesContents = rules.comparesBodies
    }

    /// Compares an action of the client.
    ///
    /// - Returns: the mismatch, unless it fits.
    func take(_ report: WebSocketPlayback.Report, from name: String) -> ReplayMismatch? {
        let sent: Item
        switch report {
        case .message(let message): sent = .message(message)
        case .closing(let code): sent = .close(code)
        case .end: return nil
        }
        let index = contents.withLock { contents in
            contents.count += 1
            return contents.count - 1
        }
        let lines = differences(sent, at: index)
        guard !lines.isEmpty else { return nil }
        contents.withLock { $0.hasMismatch = true }
        return mismatch("does not fit exchange \(number) of \(name)", lines)
    }

    /// The recorded messages and the close frame that the client has not sent.
    func unsent(from name: String) -> ReplayMismatch? {
        let (count, hasMismatch) = contents.withLock { ($0.count, $0.hasMismatch) }
        guard count < items.count, !hasMismatch else { return nil }
        var difference = ReplayDifference()
        for index in count..<items.count {
            difference.add(label(of: items[index], at: index), shown(items[index]), nil)
        }
        return mismatch("has not sent all of exchange \(number) of \(name)", difference.shortened)
    }

    private func mismatch(_ text: String, _ lines: [String]) -> ReplayMismatch {
        let asked = "\(request.method.rawValue) \(request.shownURL)"
        return ReplayMismatch(
            "the client of \(asked) \(text)", request: asked, nearest: number, differences: lines)
    }

    // MARK: - Comparing

    private func differences(_ sent: Item, at index: Int) -> [String] {
        var difference = ReplayDifference()
        let recorded = index < items.count ? items[index] : nil
        switch (sent, recorded) {
        case (.close, nil) where isOpenEnded: break
        case (.close(let code), .close(let other)): difference.add("close", "\(other)", "\(code)")
        case (.message(let message), .message(let other)):
            guard comparesContents else { break }
            compare(message, other, "message \(index + 1)", &difference)
        default:
            let label = label(of: recorded ?? sent, at: index)
            difference.add(label, recorded.map(shown), shown(sent))
        }
        return difference.shortened
    }

    private func compare(
        _ sent: WebSocketMessage, _ recorded: WebSocketMessage, _ label: String,
        _ difference: inout ReplayDifference
    ) {
        let (one, other) = (masked(recorded), masked(sent))
        switch (recorded, sent) {
        case (.text, .text): difference.compare(label, recorded: one.bytes, sent: other.bytes)
        case (.binary, .binary):
            if !ReplayDifference.fits(other.bytes, one.bytes) {
                difference.addBytes(label, recorded: one.bytes, sent: other.bytes)
            }
        default: difference.add(label, shown(.message(recorded)), shown(.message(sent)))
        }
        let unknown = other.placeholders.subtracting(one.placeholders)
        guard difference.shortened.isEmpty, !unknown.isEmpty else { return }
        func list(_ names: Set<String>) -> String? {
            names.isEmpty ? nil : names.sorted().joined(separator: ", ")
        }
        difference.add("\(label), placeholders", list(one.placeholders), list(other.placeholders))
    }

    private func label(of item: Item, at index: Int) -> String {
        if case .message = item { "message \(index + 1)" } else { "close" }
    }

    private func shown(_ item: Item) -> String {
        switch item {
        case .message(.text(let text)):
            String(decoding: masked(.text(text)).bytes, as: UTF8.self).debugDescription
        case .message(.binary(let bytes)): "\(bytes.count) bytes"
        case .close(let code): "close \(code)"
        }
    }

    private func masked(_ message: WebSocketMessage) -> (bytes: [UInt8], placeholders: Set<String>) {
        var names = Pseudonyms.masking
        let bytes: [UInt8]
        switch message {
        case .text(let text):
            let plain = Array(text.utf8)
            let edits = names.edits(in: plain, type: nil, request.redaction)
            bytes = names.masked(edits.applied(to: plain))
        case .binary(let plain): bytes = names.masked(plain)
        }
        return (bytes, Set((names.masked ?? []).filter { Pseudonyms.isPlaceholder($0) }))
    }
}
