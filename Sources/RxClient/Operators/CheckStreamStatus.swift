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
        lift { observer in
            let scope = observer.scope.child()
            let gate = Gate(StatusGate(request, accepting: accepted, envelope, keeping: limit))
            return Observer(
                scope: scope,
                next: { event in
                    do throws(NetworkError) {
                        guard try gate.status.admits(event) else { return }
                    } catch {
                        scope.close()
                        return observer.fail(error)
                    }
                    observer.next(event)
                },
                end: { completion in
                    scope.close()
                    observer.end(gate.status.end(completion))
                })
        }
    }
}

private final class Gate: @unchecked Sendable {
    // Unchecked: used only inside the subscription's lane, which is serial.
    var status: StatusGate

    init(_ status: StatusGate) { self.status = status }
}

/// Lets the events of a success pass, and turns any other response into an error.
struct StatusGate: Sendable {
    private var request: Request
    private let accepted: Set<Int>
    private let envelope: Envelope?
    private let limit: Int
    /// Gathers the body of an error response.
    private var refusal: ResponseGatherer?
    /// The number of bytes of that body so far.
    private var count = 0

    /// - Parameters:
    ///   - accepted: the statuses that pass, besides those of successes.
    ///   - limit: the most bytes of the body of an error.
    init(_ request: Request, accepting accepted: Set<Int>, _ envelope: Envelope?, keeping limit: Int) {
        self.request = request
        self.accepted = accepted
        self.envelope = envelope
        self.limit = limit
    }

    /// Returns whether the event belongs to a success.
    ///
    /// - Throws: the error of the response, with its last event.
    mutating func admits(_ event: TransferEvent) throws(NetworkError) -> Bool {
        switch event {
        case .redirected(let request, by: _): self.request = request
        case .head(let head) where head.status.kind != .successful && !accepted.contains(head.status.code):
            refusal = ResponseGatherer(request)
        default: break
        }
        guard refusal != nil else { return true }
        var event = event
        var isFull = false
        if case .chunk(let bytes) = event {
            isFull = bytes.count > limit - count
            if isFull { event = .chunk(Array(bytes.prefix(limit - count))) }
            count += bytes.count
        }
        var response = try refusal?.receive(event)
        if isFull { response = try refusal?.receive(.finished(TransferMetrics())) }
        try response?.checkStatus(envelope)
        return false
    }

    /// The end of the events, if the later stages end like this.
    func end(_ completion: Completion<NetworkError>) -> Completion<NetworkError> {
        guard case .finished = completion, let error = refusal?.failure else { return completion }
        return .failed(error)
    }
}
