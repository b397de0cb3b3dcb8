public import FoundationEssentials
public import RxHTTP
public import RxLite
public import RxWebSocket

/// Sends the messages of a WebSocket.
///
/// ```swift
/// let sink = WebSocketSink()
/// for try await line in client.webSocket("/chat", sending: sink).texts() {
///     try await sink.send("You said: \(line)").value()
/// }
/// ```
///
/// Messages go out in the order in which they were sent. While there is no connection, before the first or between two,
/// they are queued, up to ``limit``; ``dropsOldest`` decides which message fails beyond it. Once the WebSocket has
/// ended, messages fail, until another one uses the sink: a sink belongs to one subscription at a time. Messages that
/// still wait when the account of that subscription is logged out fail with ``NetworkError/Code/loginExpired``, and the
/// next account can use the sink. Safe from any thread.
public final class WebSocketSink: Sendable {
    /// The maximum number of queued messages.
    public var limit: Int { outbox.limit }
    /// Whether a message beyond the limit replaces the oldest queued one, which then fails with
    /// ``NetworkError/Code/outboxFull``; otherwise the new message does.
    public var dropsOldest: Bool { outbox.dropsOldest }
    /// The state of the connection.
    public var state: Property<WebSocketState> { Property(outbox.state) }

    let outbox: WebSocketOutbox

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of queued messages, at least 1. Default 1,024.
    ///   - dropsOldest: whether a message beyond the limit replaces the oldest one. Default false: it is refused.
    public init(limit: Int = 1024, dropsOldest: Bool = false) {
        outbox = WebSocketOutbox(limit: limit, dropsOldest: dropsOldest)
    }

    /// Sends a message with each subscription.
    ///
    /// Sends one value when the connection has taken the message. Awaiting it limits the caller to the speed
    /// of the network. Cancelling removes a message that is still queued.
    ///
    /// Success means that the connection has taken the message, not that the server has received it: a
    /// connection that breaks afterwards loses it, and it is not sent again. A message that the connection
    /// has not taken stays queued for the next one, if there is one.
    ///
    /// It fails with ``NetworkError/Code/outboxFull`` if the queue is full, with
    /// ``NetworkError/Code/webSocketClosed`` or ``NetworkError/Code/connectionLost`` if the WebSocket ends
    /// before a connection has taken the message, and with ``NetworkError/Code/invalidParameters`` if the
    /// message cannot be sent, such as a ping with more than 125 bytes.
    public func send(_ message: WebSocketMessage) -> Observable<Void, NetworkError> {
        outbox.send(.message(message))
    }

    /// Sends a text; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) -> Observable<Void, NetworkError> { send(.text(text)) }

    /// Sends a value as JSON, in a text message; see ``send(_:)-(WebSocketMessage)``. A value that cannot be
    /// encoded fails with ``NetworkError/Code/invalidParameters``.
    public func send(
        json value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()
    ) -> Observable<Void, NetworkError> {
        .deferred { [outbox] in
            do {
                let text = String(decoding: try encoder.encode(value), as: UTF8.self)
                return outbox.send(.message(.text(text)))
            } catch {
                return .fail(NetworkError(.invalidParameters, "the message cannot be encoded: \(error)"))
            }
        }
    }

    /// Sends a ping with at most 125 bytes, which the server's pong repeats; see ``send(_:)-(WebSocketMessage)``.
    /// A longer one fails with ``NetworkError/Code/invalidParameters``.
    public func ping(_ payload: [UInt8] = []) -> Observable<Void, NetworkError> {
        outbox.send(.ping(payload))
    }

    /// Sends a close frame after the queued messages; nothing can be sent after it. The stream of the WebSocket
    /// finishes after the server's close frame, or after ``WebSocketSettings/closeTimeout``; there is no new
    /// connection. Without a connection and without queued messages, the stream finishes at once.
    ///
    /// - Parameters:
    ///   - code: the code; `nil` for a frame without code and reason (RFC 6455 §5.5.1). Codes that must not be sent,
    ///     such as 1005 and 1006, fail with ``NetworkError/Code/invalidParameters``. Default 1000.
    ///   - reason: a text for logs; of more than 123 bytes, the first are sent. A reason without a code fails with
    ///     ``NetworkError/Code/invalidParameters``.
    public func close(
        _ code: WebSocketCloseCode? = .normalClosure, reason: String = ""
    ) -> Observable<Void, NetworkError> {
        if let code, !code.isSendable {
            return .fail(NetworkError(.invalidParameters, "a close frame must not have the code \(code)"))
        }
        guard code != nil || reason.isEmpty else {
            return .fail(NetworkError(.invalidParameters, "a close frame without a code has no reason"))
        }
        return outbox.send(.close(code, reason: reason))
    }
}

/// The state of a WebSocket, for a view.
public enum WebSocketState: Sendable, Hashable {
    /// Not in use: no subscription, or the stream has ended.
    case idle
    /// A connection is being opened.
    case connecting
    /// The connection is open.
    case open
    /// The connection has ended; the next one follows after this delay.
    case waiting(Duration)
}
