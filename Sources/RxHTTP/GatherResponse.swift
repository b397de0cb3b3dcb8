public import FoundationEssentials
import HTTPTypes
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The whole response to `request`, once its body is complete.
    ///
    /// A body larger than the request's ``Request/bodyLimit`` fails with `tooLarge` and stops the transfer.
    ///
    /// - Parameters:
    ///   - request: the request that was sent.
    ///   - decoder: the decoder of the response's JSON. Default `nil`: the decoder of the client that made
    ///     this stream, otherwise a `JSONDecoder()`.
    public func response(
        to request: Request, decoder: JSONDecoder? = nil
    ) -> Observable<Response, NetworkError> {
        lift { observer in
            let gathering = Gathering(request, decoder, into: observer)
            return Observer(
                scope: observer.scope, target: gathering,
                receive: { event, gathering in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(gathering, to: Gathering.self).receive(event)
                }, end: { gathering.receive($0) })
        }
    }
}

/// Collects the events of an exchange into a response.
private final class Gathering: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let observer: Observer<Response, NetworkError>
    private let decoder: JSONDecoder?
    @safe @exclusivity(unchecked) private var request: Request
    @safe @exclusivity(unchecked) private var isRedirected = false
    @safe @exclusivity(unchecked) private var interim: [ResponseHead] = []
    @safe @exclusivity(unchecked) private var head: ResponseHead?
    @safe @exclusivity(unchecked) private var trailers: HTTPFields?
    @safe @exclusivity(unchecked) private var body: [UInt8] = []
    @safe @exclusivity(unchecked) private var isComplete = false

    init(_ request: Request, _ decoder: JSONDecoder?, into observer: Observer<Response, NetworkError>) {
        self.request = request
        self.decoder = decoder
        self.observer = observer
    }

    func receive(_ event: TransferEvent) {
        switch event {
        case .uploaded: break
        case .interim(let head): interim.append(head)
        case .trailers(let fields): trailers = fields
        case .redirected(let request, by: let head):
            self.request = request
            if !head.isUpgrade { isRedirected = true }
            interim = []
        case .head(let head): self.head = head
        case .chunk(let bytes):
            guard bytes.count <= request.bodyLimit - body.count else {
                var error = NetworkError(
                    .tooLarge, "the body is larger than \(request.bodyLimit) bytes", request: request)
                error.head = head
                return observer.fail(error)
            }
            if body.isEmpty { body = bytes } else { body += bytes }
        case .finished(let metrics):
            // Moved rather than copied.
            guard !isComplete, let head = head.take() else { return }
            isComplete = true
            var body: [UInt8] = []
            swap(&body, &self.body)
            var response = Response(
                head: head, body: body, request: request, metrics: metrics,
                decoder: decoder ?? head.decoder ?? JSONDecoder())
            response.isRedirected = isRedirected
            if !interim.isEmpty { response.interim = interim }
            if let trailers { response.trailers = trailers }
            observer.next(response)
        }
    }

    func receive(_ completion: Completion<NetworkError>) {
        guard case .finished = completion, !isComplete else { return observer.end(completion) }
        var error = NetworkError(.partialBody, "the response ended before it was complete", request: request)
        error.head = head
        observer.fail(error)
    }
}
