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
    private let outbox: WebSocketOutbox?
    private let connect: @Sendable (_ isFirst: Bool) -> Observable<WebSocketEvent, NetworkError>
    private var isFirst = true
    private var history: RetryHistory
    /// The error that ended the last connection, if there was one.
    private var cause: NetworkError?
    /// The code with which the server has closed the last connection, if it has.
    private var code: WebSocketCloseCode?
    /// Whether the last connection ended for good.
    private var isDone = false

    init(
        _ reconnection: WebSocketReconnection, _ backoff: Backoff, _ outbox: WebSocketOutbox?,
        on clock: any Scheduler,
        connect: @escaping @Sendable (_ isFirst: Bool) -> Observable<WebSocketEvent, NetworkError>
    ) {
        self.reconnection = reconnection
        self.backoff = backoff
        self.outbox = outbox
        self.clock = clock
        self.connect = connect
        history = RetryHistory(clock: clock)
    }

    var events: Observable<WebSocketEvent, NetworkError> {
        Observable.concat([.deferred { self.connection }, .deferred { self.wait }])
            .repeat(when: { $0.take(while: { [self] _ in !isDone }) })
    }

    private var connection: Observable<WebSocketEvent, NetworkError> {
        (cause, code) = (nil, nil)
        outbox?.state.value = .connecting
        defer { isFirst = false }
        return connect(isFirst)
            .handleEvents(onNext: { event in
                switch event {
                case .opened: self.history = RetryHistory(clock: self.clock)
                case .closing(let code, reason: _): self.code = code
                default: break
                }
            })
            .catch { error in
                guard self.mayPass(error) else { return .fail(error) }
                self.cause = error
                return .empty()
            }
    }

    private func mayPass(_ error: NetworkError) -> Bool {
        if let code { return reconnection.closeCodes.contains(code) }
        if error.code == .status {
            return error.status.map { Self.passingStatuses.contains($0.code) } ?? false
        }
        return error.code.remedies.contains(.reconnection)
    }

    private static let passingStatuses: Set<Int> = Set([408, 425, 429] + Array(500...599))

    private var wait: Observable<WebSocketEvent, NetworkError> {
        // The server has closed, or this side has, and that is the end.
        let isPassing = cause != nil || code.map { reconnection.closeCodes.contains($0) } ?? false
        if outbox?.hasClosed == true || !isPassing {
            isDone = true
            return .empty()
        }
        let backoff = backoff.delay(history) { Double.random(in: 0..<1) }
        // While the circuit is open, nothing is sent before it admits a request.
        let delay = max(backoff, (cause?.openCircuit?.until ?? clock.now) - clock.now)
        history.count += 1
        history.lastDelay = delay
        outbox?.state.value = .waiting(delay)
        return .concat([
            .just(.reconnecting(after: delay, because: cause)),
            Observable<Void, Never>.timer(delay, on: clock).setFailureType(to: NetworkError.self).flatMap {
                _ in .empty()
            },
        ])
    }
}
