public import RxLite
public import RxWebSocket

/// When a WebSocket connects again after its connection has ended, and what it sends then.
///
/// A connection that could not be opened, or that broke, is tried again unless the error is final, such as an
/// invalid URL, a rejected certificate, or an unsuccessful status other than 408, 425, 429, 500, 502, 503, 504, and
/// 413 with `Retry-After`. A connection that the server has closed is tried again for the codes in ``closeCodes``.
public struct WebSocketReconnection: Sendable {
    /// The waits before new connections; the count begins again with the first message, ping or pong of a
    /// connection. `nil` for no new connections.
    public var backoff: Backoff?
    /// The codes of the server after which to connect again. Default: 1001 (going away), 1011 (internal
    /// error), 1012 (service restart), 1013 (try again later) and 1014 (bad gateway).
    public var closeCodes: Set<WebSocketCloseCode> = [
        .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
    ]
    /// The messages to send first on each connection after the first one that opened, such as subscriptions.
    /// Messages that wait in the sink follow. Default none.
    public var resumption: @Sendable (WebSocketOpening) -> [WebSocketMessage] = { _ in [] }

    /// One connection only.
    public static let never = WebSocketReconnection(backoff: nil)

    /// Connects again, with these waits. By default each wait is a random time up to a bound, which starts at
    /// 0.5 s, doubles with each connection and stops at 30 s. The first message, ping or pong of a connection
    /// resets the bound; opening does not, so that a server that closes each connection at once is not flooded.
    /// There is no limit on the number of attempts. The `Retry-After` of a refused handshake, at most a day, is a
    /// minimum of the wait.
    public static func always(
        _ backoff: Backoff = .fullJitter(base: .milliseconds(500), cap: .seconds(30)),
        resumption: @escaping @Sendable (WebSocketOpening) -> [WebSocketMessage] = { _ in [] }
    ) -> WebSocketReconnection {
        WebSocketReconnection(backoff: backoff, resumption: resumption)
    }
}
