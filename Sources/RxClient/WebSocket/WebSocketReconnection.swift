import HTTPTypes
public import RxHTTP
public import RxLite
public import RxWebSocket

extension WebSocketSettings {
    /// When a WebSocket connects again after its connection has ended, and what it sends then.
    ///
    /// A connection that could not be opened, or that broke, is tried again unless the error is final, such as an
    /// invalid URL, a rejected certificate, or an unsuccessful status other than 408, 425, 429, 500, 502, 503, 504, and
    /// 413 with `Retry-After`. A connection that the server has closed is tried again for the codes in ``closeCodes``.
    public struct Reconnection: Sendable {
        /// The waits before new connections; the count begins again with the first message, ping or pong of a
        /// connection. `nil` for no new connections.
        public var backoff: Backoff?
        /// The codes of the server after which to connect again. Default: 1001 (going away), 1011 (internal
        /// error), 1012 (service restart), 1013 (try again later) and 1014 (bad gateway).
        public var closeCodes: Set<WebSocketCloseCode> = [
            .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ]
        /// Returns the messages to send first on each connection after the first one that opened, such as
        /// subscriptions. `head` is the response to the handshake; its field `Sec-WebSocket-Protocol` is the chosen
        /// subprotocol. Messages that wait in the sink follow. Default: none.
        public var resumption: @Sendable (_ head: ResponseHead) -> [WebSocketMessage] = { _ in [] }

        /// One connection only.
        public static let never = Reconnection(backoff: nil)

        /// Connects again, with these waits. By default each wait is a random time up to a bound, which starts at
        /// 0.5 s, doubles with each connection and stops at 30 s. The first message, ping or pong of a connection
        /// resets the bound; opening does not, so that a server that closes each connection at once is not flooded.
        /// There is no limit on the number of attempts. The `Retry-After` of a refused handshake, at most a day, is a
        /// minimum of the wait.
        public static func always(
            _ backoff: Backoff = .fullJitter(base: .milliseconds(500), cap: .seconds(30)),
            resumption: @escaping @Sendable (_ head: ResponseHead) -> [WebSocketMessage] = { _ in [] }
        ) -> Reconnection {
            Reconnection(backoff: backoff, resumption: resumption)
        }
    }
}

// MARK: - Connecting again

/// One running WebSocket: connects, and connects again.
final class WebSocketSource: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    private let clock: any Scheduler
    private let reconnection: WebSocketSettings.Reconnection
    private let backoff: Backoff
    private let outlet: WebSocketOutlet?
    private let connect: @Sendable (_ isFirst: Bool) -> Observable<WebSocketEvent, NetworkError>
    /// Whether no connection has opened yet.
    private var isFirst = true
    /// The failures since the last message, ping or pong: opening alone does not reset it, because a server may close
    /// each connection at once.
    private var history: RetryHistory
    /// The code with which the server has closed the last connection, if it has.
    private var code: WebSocketCloseCode?

    init(
        _ reconnection: WebSocketSettings.Reconnection, _ backoff: Backoff, _ outlet: WebSocketOutlet?,
        on clock: any Scheduler,
        connect: @escaping @Sendable (_ isFirst: Bool) -> Observable<WebSocketEvent, NetworkError>
    ) {
        self.reconnection = reconnection
        self.backoff = backoff
        self.outlet = outlet
        self.clock = clock
        self.connect = connect
        history = RetryHistory(clock: clock)
    }

    var events: Observable<WebSocketEvent, NetworkError> {
        .reconnecting(
            on: clock,
            connection: { self.connection },
            delay: { error throws(NetworkError) in try self.delay(after: error) },
            announcement: { delay, error in
                self.outlet?.show(.waiting(delay))
                return .reconnecting(after: delay, because: error)
            })
    }

    private var connection: Observable<WebSocketEvent, NetworkError> {
        code = nil
        outlet?.show(.connecting)
        return connect(isFirst)
            .handleEvents(onNext: { event in
                switch event {
                case .opened: self.isFirst = false
                case .text, .binary, .ping, .pong: self.history = RetryHistory(clock: self.clock)
                case .closing(let code, reason: _): self.code = code
                case .reconnecting: break
                }
            })
    }

    private func delay(after error: NetworkError?) throws(NetworkError) -> Duration? {
        if let error, !mayPass(error) { throw error }
        // The server has closed, or this side has, and that is the end.
        let isPassing = error != nil || code.map { reconnection.closeCodes.contains($0) } ?? false
        if outlet?.isClosed == true || !isPassing { return nil }
        return history.countRetry(
            by: backoff, RandomSource.fraction,
            atLeast: error?.leastWait(now: clock.currentDate) ?? .zero)
    }

    private func mayPass(_ error: NetworkError) -> Bool {
        if let code { return reconnection.closeCodes.contains(code) }
        switch error.code {
        case .status: return error.hasTransientStatus
        // The limits of a handshake, since an open connection has none.
        case .attemptTimeout, .totalTimeout: return true
        default: return error.isPassingOnReconnection
        }
    }
}
