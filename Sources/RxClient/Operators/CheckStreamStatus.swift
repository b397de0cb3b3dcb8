import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// Fails with `status`, once the body has arrived, unless the response's status is a success (200 to
    /// 299); none of its events are emitted. Like `checkStatus(envelope:)`, for a response as a stream.
    ///
    /// - Parameters:
    ///   - request: the request of the response, for the error.
    ///   - accepted: additional statuses that do not fail.
    ///   - envelope: the keys of the server's code and message.
    public func checkStatus(
        of request: Request, accepting accepted: Set<Int> = [], envelope: Envelope? = nil
    ) -> Observable<TransferEvent, NetworkError> {
        checkStatus(of: request, accepting: accepted, envelope: envelope, keeping: .max)
    }

    /// The check with a bounded body of the error.
    ///
    /// - Parameter limit: the maximum number of bytes of that body. The rest of a longer one is not received.
    func checkStatus(
        of request: Request, accepting accepted: Set<Int>, envelope: Envelope?, keeping limit: Int
    ) -> Observable<TransferEvent, NetworkError> {
        lift { observer in StatusGate(request, accepted, envelope, limit, into: observer).input }
    }
}

/// Passes on the events of a success, and turns any other response into an error.
private final class StatusGate: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private var request: Request
    private let accepted: Set<Int>
    private let envelope: Envelope?
    private let limit: Int
    private let observer: Observer<TransferEvent, NetworkError>
    private let source: Scope
    /// Gathers the body of an error response.
    private var refusal: Observer<TransferEvent, NetworkError>?
    /// The number of bytes of that body so far.
    private var count = 0

    init(
        _ request: Request, _ accepted: Set<Int>, _ envelope: Envelope?, _ limit: Int,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        self.request = request
        self.accepted = accepted
        self.envelope = envelope
        self.limit = limit
        self.observer = observer
        source = observer.scope.child()
    }

    var input: Observer<TransferEvent, NetworkError> {
        observer.scope.onClose { self.refusal = nil }
        return Observer(
            scope: source, next: { self.receive($0) },
            end: { completion in
                self.source.close()
                if let refusal = self.refusal {
                    refusal.end(completion)
                } else {
                    self.observer.end(completion)
                }
            })
    }

    private func receive(_ event: TransferEvent) {
        switch event {
        case .redirected(let request, by: _): self.request = request
        case .head(let head) where head.status.kind != .successful && !accepted.contains(head.status.code):
            beginRefusal()
        default: break
        }
        guard let refusal else { return observer.next(event) }
        guard case .chunk(let bytes) = event, bytes.count > limit - count else {
            if case .chunk(let bytes) = event { count += bytes.count }
            return refusal.next(event)
        }
        refusal.next(.chunk(Array(bytes.prefix(limit - count))))
        refusal.next(.finished(TransferMetrics()))
    }

    private func beginRefusal() {
        let scope = observer.scope.child()
        Observable<TransferEvent, NetworkError> { self.refusal = $0 }
            .response(to: request)
            .checkStatus(envelope: envelope)
            .subscribe(
                Observer(scope: scope, next: { _ in }) { completion in
                    scope.close()
                    self.source.close()
                    self.observer.end(completion)
                })
    }
}
