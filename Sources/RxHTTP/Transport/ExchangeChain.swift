package import HTTPTypes
import RxLite
import Synchronization

/// Exchanges that follow each other. Delivers the response of the last one; of the others, only the events
/// before their heads.
///
/// The next exchange begins as soon as a head asks for it. Body bytes that arrived together with that head
/// are read, so that the connection can be reused; the rest of the body is not awaited. The stage `Redirects` of
/// RxClient does the same for clients; change both.
package final class ExchangeChain: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.

    /// The exchange that follows a response that is not delivered.
    final class Link {
        let request: Request
        /// Sent to the observer before the exchange begins.
        let announcement: TransferEvent?
        let exchange: Observable<TransferEvent, NetworkError>

        init(
            request: Request, announcement: TransferEvent? = nil,
            exchange: Observable<TransferEvent, NetworkError>
        ) {
            self.request = request
            self.announcement = announcement
            self.exchange = exchange
        }
    }

    /// Returns the next link for the head of the response to a request; `nil` to deliver the response.
    ///
    /// - Parameter count: the number of exchanges before this one.
    typealias Decision = (ResponseHead, _ request: Request, _ count: Int) throws(NetworkError) -> Link?

    /// The most bytes of an undelivered body to read; beyond them the connection is closed.
    package static let discardLimit = 64 << 10

    private let decide: Decision
    private let observer: Observer<TransferEvent, NetworkError>
    /// The request of the current exchange.
    @safe @exclusivity(unchecked) private var request: Request
    /// The scope of the current exchange. Only its events arrive: the scopes of earlier exchanges are closed.
    @safe @exclusivity(unchecked) private var scope: Scope
    /// What follows the current exchange, once its head has asked for it. Its other events are then dropped.
    @safe @exclusivity(unchecked) private var next: Link?
    @safe @exclusivity(unchecked) private var discarded = 0
    @safe @exclusivity(unchecked) private var count = 0

    init(
        from request: Request, into observer: Observer<TransferEvent, NetworkError>,
        deciding decide: @escaping Decision
    ) {
        self.request = request
        self.observer = observer
        self.decide = decide
        scope = observer.scope.child()
    }

    func start(_ exchange: Observable<TransferEvent, NetworkError>) {
        exchange.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { event, chain in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(chain, to: ExchangeChain.self).receive(event)
                },
                end: { completion in
                    self.scope.close()
                    // The undelivered body is not needed, even if it failed.
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
            next = try decide(head, request, count)
        } catch {
            scope.close()
            return observer.fail(error)
        }
        if next == nil { observer.next(event) } else { followSoon() }
    }

    /// Follows at the scheduler's next turn, after the events that have already arrived.
    private func followSoon() {
        guard let scheduler = observer.scope.lane.scheduler else { return leave() }
        // That of this exchange, which may be over by then.
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
        request = link.request
        discarded = 0
        count += 1
        if let announcement = link.announcement { observer.next(announcement) }
        guard observer.scope.isOpen else { return }
        scope = observer.scope.child()
        start(link.exchange)
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard case .failed(var error) = completion, count > 0 else { return observer.end(completion) }
        error.isUnsent = false
        observer.fail(error)
    }
}

/// The header fields that one exchange was sent with, including cookies and credential.
package final class SentFields: Sendable {
    private struct Contents {
        var fields: HTTPFields?
        var cookies: String?
        var isStandIn = false
    }

    private let contents = Mutex(Contents())

    /// Creates a record for an exchange that has not been sent.
    package init() {}

    /// The fields of the last hop; `nil` before the first one is sent.
    package var last: HTTPFields? { contents.withLock { $0.fields } }

    /// The cookies that a jar added to the first hop; `nil` before the hop is sent, empty for none.
    package var cookies: String? { contents.withLock { $0.cookies } }

    /// Whether nothing was sent, because an interceptor made the response.
    package var isStandIn: Bool { contents.withLock { $0.isStandIn } }

    /// Records that nothing is sent.
    package func markStandIn() { contents.withLock { $0.isStandIn = true } }

    /// Records a hop.
    package func record(_ fields: HTTPFields) { contents.withLock { $0.fields = fields } }

    /// Records the cookies that a jar adds to a hop.
    package func record(cookies: String) {
        contents.withLock { $0.cookies = $0.cookies ?? cookies }
    }
}
