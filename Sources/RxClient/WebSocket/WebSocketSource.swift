import HTTPTypes
import RxHTTP
import RxLite
import RxWebSocket

/// One running WebSocket: connects, and connects again.
final class WebSocketSource: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    private let clock: any Scheduler
    private let reconnection: WebSocketReconnection
    private let backoff: Backoff
    private let outlet: WebSocketOutlet?
    private let connect: @Sendable (_ isFirst: Bool) -> Observable<WebSocketEvent, NetworkError>
    /// Whether no connection has opened yet.
    private var isFirst = true
    private var history: RetryHistory
    /// The code with which the server has closed the last connection, if it has.
    private var code: WebSocketCloseCode?

    init(
        _ reconnection: WebSocketReconnection, _ backoff: Backoff, _ outlet: WebSocketOutlet?,
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
                self.history.lastDelay = delay
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
        if outlet?.hasClosed == true || !isPassing { return nil }
        defer { history.count += 1 }
        let delay = backoff.delay(history, Chance.fraction)
        return max(delay, error?.leastWait(now: clock.currentDate) ?? .zero)
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
