import RxHTTP
import RxLite

/// Lets the opening handshakes of WebSockets to one host and port follow one another (RFC 6455 §4.1): one begins when
/// the server has answered the one before, or that one has failed.
///
/// Hosts are compared by name. Their addresses are not known here, and a proxy hides them.
final class HandshakeOrder: RequestStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let origin = Origin(request.url) else { return .next }
        let limiter = walk.call.client.hosts.handshakes
        let host = limiter.host("\(origin.host):\(origin.port)")
        let exchange = walk.rest.transfers(request)
        return .transfer(
            Observable(scheduler: walk.call.scheduler) { observer in
                HandshakeTurn(limiter, host, into: observer).start(exchange)
            })
    }
}

/// One handshake, first in the queue and then under way.
private final class HandshakeTurn: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial; the limiter admits it through that lane.
    private let limiter: RequestLimiter
    private let host: RequestLimiter.Host
    private let observer: Observer<TransferEvent, NetworkError>
    private let scope: Scope
    private var waiter: RequestLimiter.Waiter?

    init(
        _ limiter: RequestLimiter, _ host: RequestLimiter.Host,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        self.limiter = limiter
        self.host = host
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ exchange: Observable<TransferEvent, NetworkError>) {
        let waiter = RequestLimiter.Waiter(for: host) {
            self.scope.enter { if self.scope.isOpen { self.begin(exchange) } }
        }
        self.waiter = waiter
        let isAdmitted = limiter.enter(waiter)
        scope.onClose { self.leave() }
        if isAdmitted { begin(exchange) }
    }

    private func begin(_ exchange: Observable<TransferEvent, NetworkError>) {
        exchange.subscribe(
            Observer(
                scope: scope,
                next: { event in
                    if case .head = event { self.leave() }
                    self.observer.next(event)
                },
                end: { completion in
                    self.scope.close()
                    self.observer.end(completion)
                }))
    }

    private func leave() {
        guard let waiter = waiter.take() else { return }
        limiter.leave(waiter)
    }
}
