public import RxLite

extension Transport {
    /// Sends `request` and follows the redirects that `policy` allows; each new request is announced by
    /// ``TransferEvent/redirected(_:)``.
    public func send(
        _ request: Request, following policy: RedirectPolicy
    ) -> Observable<TransferEvent, NetworkError> {
        let first = send(request)
        return Observable(scheduler: first.scheduler) { observer in
            Redirecting(self, policy, request, into: observer).start(first)
        }
    }
}

/// One request on its way through redirects.
private final class Redirecting: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: runs only inside the subscription's lane, which is serial.

    /// A redirect's body is read to its end, so that the connection can be used again, unless it is larger.
    private static let discardLimit = 64 << 10

    private let transport: any Transport
    private let policy: RedirectPolicy
    private let observer: Observer<TransferEvent, NetworkError>
    /// The one that is under way, and its scope.
    @safe @exclusivity(unchecked) private var request: Request
    @safe @exclusivity(unchecked) private var scope: Scope
    @safe @exclusivity(unchecked) private var count = 0
    @safe @exclusivity(unchecked) private var next: Request?
    @safe @exclusivity(unchecked) private var discarded = 0

    init(
        _ transport: any Transport, _ policy: RedirectPolicy, _ request: Request,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        self.transport = transport
        self.policy = policy
        self.request = request
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ stream: Observable<TransferEvent, NetworkError>) {
        let scope = scope
        stream.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { event, redirecting in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(redirecting, to: Redirecting.self).receive(event)
                },
                end: { completion in
                    scope.close()
                    if case .finished = completion, self.next != nil { return self.follow() }
                    self.end(completion)
                }))
    }

    private func receive(_ event: TransferEvent) {
        switch event {
        case .head(let head):
            do throws(NetworkError) {
                next = try policy.redirect(request, to: head, count: count)
            } catch {
                scope.close()
                return observer.fail(error)
            }
            if next == nil { observer.next(event) }
        case .chunk(let bytes) where next != nil:
            discarded += bytes.count
            guard discarded > Self.discardLimit else { return }
            scope.close()
            follow()
        case .trailers where next != nil, .finished where next != nil: break
        default: observer.next(event)
        }
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard case .failed(var error) = completion, count > 0 else { return observer.end(completion) }
        error.isUnsent = false
        observer.fail(error)
    }

    private func follow() {
        guard let request = next else { return }
        next = nil
        discarded = 0
        count += 1
        observer.next(.redirected(request))
        guard observer.scope.isOpen else { return }
        self.request = request
        scope = observer.scope.child()
        start(transport.send(request))
    }
}
