import RxLite

/// Exchanges one after the other, of which the last one's response is handed out, and of the others only what comes
/// before their heads.
///
/// The next exchange begins at the head that asks for it. What has arrived of the body together with that head is read,
/// so that the connection can be used again; a body that is still to come is not waited for.
final class ExchangeChain: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: runs only inside the subscription's lane, which is serial.

    /// What comes after a response that is not handed out.
    struct Link {
        /// Is sent on before the exchange begins.
        var announcement: TransferEvent?
        var exchange: Observable<TransferEvent, NetworkError>
    }

    /// Makes the next link at a head; `nil` to hand the response out.
    typealias Decision = (ResponseHead) throws(NetworkError) -> Link?

    /// A connection whose body is larger is closed.
    private static let discardLimit = 64 << 10

    private let decide: Decision
    private let observer: Observer<TransferEvent, NetworkError>
    /// That of the exchange that is under way.
    @safe @exclusivity(unchecked) private var scope: Scope
    @safe @exclusivity(unchecked) private var next: Link?
    @safe @exclusivity(unchecked) private var discarded = 0
    @safe @exclusivity(unchecked) private var isFirst = true

    init(into observer: Observer<TransferEvent, NetworkError>, deciding decide: @escaping Decision) {
        self.observer = observer
        self.decide = decide
        scope = observer.scope.child()
    }

    func start(_ exchange: Observable<TransferEvent, NetworkError>) {
        let scope = scope
        exchange.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { event, chain in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(chain, to: ExchangeChain.self).receive(event)
                },
                end: { completion in
                    scope.close()
                    // However the body ended: nothing of it is wanted.
                    if self.next == nil { self.end(completion) } else { self.follow() }
                }))
    }

    private func receive(_ event: TransferEvent) {
        guard next == nil else {
            if case .chunk(let bytes) = event { discard(bytes.count) }
            return
        }
        guard case .head(let head) = event else { return observer.next(event) }
        do throws(NetworkError) {
            next = try decide(head)
        } catch {
            scope.close()
            return observer.fail(error)
        }
        if next == nil { observer.next(event) } else { followSoon() }
    }

    /// Follows at the scheduler's next turn, at the end of what is there by now.
    private func followSoon() {
        guard let scheduler = observer.scope.lane.scheduler else { return leave() }
        let scope = scope
        scheduler.schedule { scope.enter { self.leave() } }
    }

    private func discard(_ count: Int) {
        discarded += count
        if discarded > Self.discardLimit { leave() }
    }

    private func leave() {
        scope.close()
        follow()
    }

    private func follow() {
        guard let link = next.take() else { return }
        discarded = 0
        isFirst = false
        if let announcement = link.announcement { observer.next(announcement) }
        guard observer.scope.isOpen else { return }
        scope = observer.scope.child()
        start(link.exchange)
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard case .failed(var error) = completion, !isFirst else { return observer.end(completion) }
        error.isUnsent = false
        observer.fail(error)
    }
}
