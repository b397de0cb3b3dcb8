public import FoundationEssentials
import HTTPTypes
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The whole answer to `request`, once its body is complete.
    ///
    /// A body larger than the request's ``Request/bodyLimit`` fails with `tooLarge` and stops the transfer.
    public func response(
        to request: Request, decoder: JSONDecoder = JSONDecoder()
    ) -> Observable<Response, NetworkError> {
        lift { observer in
            let gathering = Gathering(request, decoder, into: observer)
            return Observer(
                scope: gathering.scope, next: gathering.receive, end: gathering.receive)
        }
    }
}

/// An answer as it comes together.
private final class Gathering: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    let scope: Scope
    private let observer: Observer<Response, NetworkError>
    private let decoder: JSONDecoder
    private var request: Request
    private var isRedirected = false
    private var interim: [ResponseHead] = []
    private var head: ResponseHead?
    private var trailers = HTTPFields()
    private var body: [UInt8] = []
    private var isComplete = false

    init(_ request: Request, _ decoder: JSONDecoder, into observer: Observer<Response, NetworkError>) {
        self.request = request
        self.decoder = decoder
        self.observer = observer
        scope = observer.scope.child()
    }

    @Sendable
    func receive(_ event: TransferEvent) {
        switch event {
        case .uploaded: break
        case .interim(let head): interim.append(head)
        case .trailers(let fields): trailers = fields
        case .redirected(let request):
            self.request = request
            isRedirected = true
            interim = []
        case .head(let head): self.head = head
        case .chunk(let bytes):
            guard bytes.count <= request.bodyLimit - body.count else {
                scope.close()
                var error = NetworkError(
                    .tooLarge, "the body is larger than \(request.bodyLimit) bytes", request: request)
                error.head = head
                return observer.fail(error)
            }
            if body.isEmpty { body = bytes } else { body += bytes }
        case .finished(let metrics):
            guard let head, !isComplete else { return }
            isComplete = true
            var response = Response(
                head: head, body: body, request: request, metrics: metrics, decoder: decoder)
            response.isRedirected = isRedirected
            if !interim.isEmpty { response.interim = interim }
            if !trailers.isEmpty { response.trailers = trailers }
            observer.next(response)
        }
    }

    @Sendable
    func receive(_ completion: Completion<NetworkError>) {
        scope.close()
        guard case .finished = completion, !isComplete else { return observer.end(completion) }
        var error = NetworkError(.partialBody, "the answer ended before it was whole", request: request)
        error.head = head
        observer.fail(error)
    }
}
