import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `status` unless the response's status is a success (200 to 299).
    ///
    /// The error keeps the body. Its message is the server's message if the body is JSON of up to 256 KiB
    /// with a message under the keys of `envelope` or one of the usual names: problem details (RFC 9457),
    /// Django REST framework and FastAPI, including a list of the errors of several fields. If the envelope
    /// assigns a kind to the code, the error has that kind, regardless of the status. Larger bodies are not
    /// parsed.
    ///
    /// - Parameters:
    ///   - envelope: the keys of the server's code and message.
    ///   - accepted: additional statuses that do not fail.
    public func checkStatus(
        envelope: Envelope? = nil, accepting accepted: Set<Int> = []
    ) -> Observable<Response, NetworkError> {
        map { response throws(NetworkError) in
            try response.checkStatus(envelope, accepting: accepted)
            return response
        }
    }
}

extension Response {
    func checkStatus(_ envelope: Envelope?, accepting accepted: Set<Int> = []) throws(NetworkError) {
        guard status.kind != .successful, !accepted.contains(status.code) else { return }
        var error = NetworkError(.status, status.reasonPhrase, request: request)
        error.head = head
        error.body = body
        // A body that is not JSON, or too large to parse on the stream's scheduler, has no message.
        if body.count <= Response.inPlaceLimit, var reader = ErrorMessageReader(body) {
            let isProblem = MediaType(head[.contentType]).name == "application/problem+json"
            error.serverMessage = reader.message(at: envelope?.message, isProblem: isProblem)
            error.message = error.serverMessage ?? error.message
            envelope?.explain(&error, by: reader)
        }
        throw error
    }
}

extension Envelope {
    /// Adds the envelope's code in the body of an error response to its error. `read(_:)` does the same for
    /// the body of a success; change both.
    fileprivate func explain(_ error: inout NetworkError, by reader: ErrorMessageReader) {
        guard let code = reader.scalar(at: code) else { return }
        error.envelopeCode = code
        guard let kind = failure(code) else { return }
        error.code = kind
        if kind == .retryLater {
            error.retryDelay = reader.scalar(at: retryDelay).flatMap(Duration.init(asked:))
        }
    }
}

// MARK: - The status of a streamed response

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
            let gate = StatusGate(request, accepting: accepted, envelope, keeping: limit)
            return Observer(
                scope: scope,
                next: { event in
                    do throws(NetworkError) {
                        guard try gate.admits(event) else { return }
                    } catch {
                        scope.close()
                        return observer.fail(error)
                    }
                    observer.next(event)
                },
                end: { completion in
                    scope.close()
                    observer.end(gate.end(completion))
                })
        }
    }
}

/// Lets the events of a success pass, and turns any other response into an error.
final class StatusGate: @unchecked Sendable {
    // Unchecked: used only inside the subscription's lane, which is serial.
    /// The request of the current hop, for the error.
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
    func admits(_ event: TransferEvent) throws(NetworkError) -> Bool {
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

    /// The end to pass on: `completion`, or an error if the body of a refusal has ended before it was complete.
    func end(_ completion: Completion<NetworkError>) -> Completion<NetworkError> {
        guard case .finished = completion, let error = refusal?.failure else { return completion }
        return .failed(error)
    }
}

// MARK: - The content type

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `contentType` unless the response has one of these types. The error keeps the body.
    public func checkContentType(_ types: ContentTypes) -> Observable<Response, NetworkError> {
        guard types != .any else { return self }
        return map { response throws(NetworkError) in
            try response.checkContentType(types)
            var checked = response
            // The types checked here replace those that ``Validation`` has left for `decode` to check.
            checked.decodableTypes = nil
            return checked
        }
    }
}

extension Response {
    func checkContentType(_ types: ContentTypes) throws(NetworkError) {
        guard !body.isEmpty, !types.accepts(head) else { return }
        let type = MediaType(head[.contentType]).name
        throw NetworkError(
            .contentType, "the content type is \(type); accepted: \(types)", request: request
        )
        .concerning(self)
    }
}

extension NetworkError {
    /// This error with its missing details filled in from a response.
    func concerning(_ response: Response) -> NetworkError {
        var error = requestID == nil ? attributed(to: response.request) : self
        error.head = error.head ?? response.head
        if error.body.isEmpty { error.body = response.body }
        return error
    }
}

// MARK: - The network

extension Observable where Failure == NetworkError {
    /// Fails with `unreachable`, without starting the stream, while the machine has no network; `unknown`
    /// counts as reachable. Checks at each subscription.
    ///
    /// - Parameters:
    ///   - reachability: the source of the network status. `nil` disables the check.
    ///   - request: the request, for the error.
    public func checkReachability(
        by reachability: (any Reachability)?, of request: Request? = nil
    ) -> Observable {
        guard let reachability else { return self }
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            guard reachability.status.isReachable else {
                return observer.fail(.unreachable(request))
            }
            self.subscribe(observer)
        }
    }
}

extension NetworkError {
    static func unreachable(_ request: Request?) -> NetworkError {
        NetworkError(.unreachable, "no network is available; nothing was sent", request: request)
    }
}
