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
            let gathering = Gathering(ResponseGatherer(request, decoder), into: observer)
            return Observer(
                scope: observer.scope, target: gathering,
                receive: { event, gathering in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(gathering, to: Gathering.self).receive(event)
                }, end: { gathering.end($0) })
        }
    }
}

private final class Gathering: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let observer: Observer<Response, NetworkError>
    @safe @exclusivity(unchecked) private var gatherer: ResponseGatherer

    init(_ gatherer: ResponseGatherer, into observer: Observer<Response, NetworkError>) {
        self.gatherer = gatherer
        self.observer = observer
    }

    func receive(_ event: TransferEvent) {
        let response: Response?
        do throws(NetworkError) { response = try gatherer.receive(event) } catch {
            return observer.fail(error)
        }
        if let response { observer.next(response) }
    }

    func end(_ completion: Completion<NetworkError>) {
        if case .finished = completion, let error = gatherer.failure { return observer.fail(error) }
        observer.end(completion)
    }
}

/// Collects the events of an exchange into a response.
package struct ResponseGatherer: Sendable {
    private let decoder: JSONDecoder?
    private var request: Request
    private var isRedirected = false
    private var interim: [ResponseHead] = []
    private var head: ResponseHead?
    private var trailers: HTTPFields?
    private var body: [UInt8] = []
    /// Whether the response has been returned.
    package private(set) var isComplete = false

    /// - Parameters:
    ///   - request: the request that was sent.
    ///   - decoder: the decoder of the response's JSON. Default `nil`: that of the head, otherwise a `JSONDecoder()`.
    package init(_ request: Request, _ decoder: JSONDecoder? = nil) {
        self.request = request
        self.decoder = decoder
    }

    /// Takes the next event. Returns the response with the last one.
    ///
    /// - Throws: `tooLarge` for a body larger than the request's limit.
    package mutating func receive(_ event: TransferEvent) throws(NetworkError) -> Response? {
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
                throw error
            }
            if body.isEmpty { body = bytes } else { body += bytes }
        case .finished(let metrics): return complete(with: metrics)
        }
        return nil
    }

    private mutating func complete(with metrics: TransferMetrics) -> Response? {
        guard !isComplete, let head = head.take() else { return nil }
        isComplete = true
        // Moved rather than copied.
        var body: [UInt8] = []
        swap(&body, &self.body)
        var response = Response(
            head: head, body: body, request: request, metrics: metrics,
            decoder: decoder ?? head.decoder ?? JSONDecoder())
        response.isRedirected = isRedirected
        if !interim.isEmpty { response.interim = interim }
        if let trailers { response.trailers = trailers }
        return response
    }

    /// The error if the events end now; `nil` if the response is complete.
    package var failure: NetworkError? {
        guard !isComplete else { return nil }
        var error = NetworkError(.partialBody, "the response ended before it was complete", request: request)
        error.head = head
        return error
    }
}

extension Observable where Failure == NetworkError {
    /// Waits for one value, the first. The stream is cancelled with it.
    ///
    /// ```swift
    /// do {
    ///     show(try await client.get("/cart").decode(Cart.self).value())
    /// } catch {
    ///     show(error.message)
    /// }
    /// ```
    ///
    /// The stream is started by the caller's actor, and the value is returned there. Cancelling the task cancels the
    /// stream; a task that has been cancelled before does not start it.
    ///
    /// - Throws: the error that the stream fails with, `cancelled` when the task is cancelled, or `noValue` if the stream
    ///   finishes without a value, which no single request does.
    nonisolated(nonsending)
        public func value() async throws(NetworkError) -> Element
    {
        if let value = try await firstValue() { return value }
        if Task.isCancelled { throw .taskCancelled }
        throw NetworkError(.noValue, "\(NoValue())")
    }
}
