import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxJSON
public import RxLite
import RxParameters

extension Observable where Element == Response, Failure == NetworkError {
    /// The content as a value: JSON decoded with the client's decoder, at the envelope's payload if an
    /// envelope was opened.
    ///
    /// A document that does not match the type fails with `decoding`; the error names the place and what was found
    /// there, and keeps the body. The response of an ``InlineEndpoint`` without content types must have one of the
    /// client's content types (``RequestOptions/contentTypes``), like the response of an endpoint; other types fail
    /// with `contentType`. A `String` is also the text of a `text/plain` response, in UTF-8. For a 204 or 205 an
    /// optional is `nil`. Bodies above 256 KiB are decoded off the stream's scheduler, so that its other streams
    /// continue.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type = T.self
    ) -> Observable<T, NetworkError> {
        process { response throws(NetworkError) in try response.decode(type) }
    }
}

extension Response {
    /// The maximum size, in bytes, of a body that is decoded on the stream's scheduler, and of an error's body that is
    /// parsed. The documentation of both, here and in `Errors.md`, says 256 KiB.
    static let inPlaceLimit = 256 << 10

    /// The content as a value, decoded from JSON; a `String` from `text/plain` is the text.
    ///
    /// - Throws: ``NetworkError`` with the code `decoding`, or `contentType`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> T {
        if hasNoContent, let absent: T = absentOutput() { return absent }
        if type == String.self, payloadPath.isEmpty, payload == nil, isPlainText, let text = text as? T {
            return text
        }
        // Set where `Validation` has left this check to the decoding of a response that is itself the output.
        if let decodableTypes { try checkContentType(decodableTypes) }
        do {
            guard !body.isEmpty else { throw Misfit("the body is empty") }
            guard !payloadPath.isEmpty else {
                return try decoder.decode(type, quicklyFrom: body, at: payload)
            }
            guard let part = try payload ?? findPayload() else { return try absentPayload() }
            return try decoder.decode(type, quicklyFrom: body, at: part)
        } catch {
            throw decodingError(error)
        }
    }

    private var isPlainText: Bool { MediaType(head[.contentType]).name == "text/plain" }

    private func findPayload() throws(JSONFlaw) -> JSONPart? {
        let tape = try JSONPart(wholeOf: body).tape
        return tape.values(at: [payloadPath], in: body)[0].map { JSONPart(tape, at: $0) }
    }

    /// The value of a missing payload: `nil` for an optional output.
    private func absentPayload<T>() throws -> T {
        guard try JSONPart(wholeOf: body).kind.isObject else {
            throw Misfit("the body is not an object", at: "")
        }
        if let absent: T = absentOutput() { return absent }
        let path = payloadPath.joined(separator: ".")
        throw Misfit("the envelope has no \(path)", at: path)
    }

    /// `nil` for an optional output; no value for any other.
    private func absentOutput<T>() -> T? {
        guard let type = T.self as? any ExpressibleByNilLiteral.Type else { return nil }
        return type.init(nilLiteral: ()) as? T
    }

    /// The error for a body that does not match the type.
    func decodingError(_ underlying: any Error) -> NetworkError {
        let misfit =
            switch underlying {
            case let misfit as Misfit: misfit
            case let flaw as JSONFlaw: Misfit("the JSON is invalid at byte \(flaw.offset)", at: "")
            case let error as DecodingError: Misfit(error, in: body, below: payloadPath)
            default: Misfit("\(underlying)")
            }
        var error = NetworkError(.decoding, misfit.description, request: request)
        error.head = head
        error.body = body
        error.codingPath = misfit.path ?? ""
        if let path = misfit.path {
            error.message = "at \(path.isEmpty ? "the top level" : path): \(misfit.description)"
        }
        return error
    }
}

/// The reason why a body does not match the type, and its place.
struct Misfit: Error {
    let description: String
    /// `data.goods[3].price`, empty for the top of the document; `nil` if the error has no place.
    let path: String?

    init(_ description: String, at path: String? = nil) {
        self.description = description
        self.path = path
    }

    /// - Parameter keys: the path to the decoded value.
    fileprivate init(_ error: DecodingError, in body: [UInt8], below keys: [String]) {
        let outer = keys.map { AnyCodingKey($0) }
        self.init(error.reason(in: body, below: outer), at: (outer + error.path).text(or: ""))
    }
}

// MARK: - Large bodies

extension Observable where Element == Response, Failure == NetworkError {
    /// Transforms each response; off the stream's scheduler if the body is large.
    func process<T: Sendable>(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T
    ) -> Observable<T, NetworkError> {
        lift { observer in
            let source = observer.scope.child()
            let reading = ContentReading(transform, pausing: source, into: observer)
            return Observer(
                scope: source, target: reading,
                receive: { response, reading in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(reading, to: ContentReading<T>.self).receive(response)
                },
                end: { completion in
                    source.close()
                    reading.end(completion)
                })
        }
    }
}

extension Observable where Element == CallEvent, Failure == NetworkError {
    /// The whole responses of a stream that has no other events.
    func responses(of call: CallContext) -> Observable<Response, NetworkError> {
        map { event throws(NetworkError) in
            guard case .response(let response) = event else { throw call.unexpected(event) }
            return response
        }
    }
}

/// Transforms responses in their order.
final class ContentReading<T: Sendable>: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let transform: @Sendable (Response) throws(NetworkError) -> T
    private let observer: Observer<T, NetworkError>
    /// The scope of the responses, which is paused while one is transformed elsewhere.
    private let source: Scope
    /// Whether a large response is being transformed elsewhere, or waits for a paused subscriber.
    @safe @exclusivity(unchecked) private var isBusy = false
    /// The responses that arrived despite the pause.
    @safe @exclusivity(unchecked) private var waiting: [Response] = []
    /// Whether the responses have finished while one is being transformed, after which the end is passed on.
    @safe @exclusivity(unchecked) private var hasEnded = false

    /// - Parameter source: the scope of the responses.
    init(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T, pausing source: Scope,
        into observer: Observer<T, NetworkError>
    ) {
        self.transform = transform
        self.source = source
        self.observer = observer
    }

    /// The scope of the results.
    var scope: Scope { observer.scope }

    func receive(_ response: Response) {
        if isBusy { return waiting.append(response) }
        guard response.isLarge else {
            return deliver { () throws(NetworkError) in try transform(response) }
        }
        isBusy = true
        source.pause()
        transformElsewhere(response)
    }

    func end(_ completion: Completion<NetworkError>) {
        if case .finished = completion, isBusy { return hasEnded = true }
        observer.end(completion)
    }

    private func transformElsewhere(_ response: Response) {
        // Runs on the runtime's thread pool, without the receiver's context: otherwise a clock or an event
        // loop would block.
        Task.detached {
            let result: Result<T, NetworkError>
            do throws(NetworkError) {
                result = .success(try self.transform(response))
            } catch {
                result = .failure(error)
            }
            self.observer.scope.enter { self.observer.scope.whenRunning { self.resume(with: result) } }
        }
    }

    private func resume(with result: Result<T, NetworkError>) {
        deliver { () throws(NetworkError) in try result.get() }
        while observer.scope.isOpen, !waiting.isEmpty {
            let response = waiting.removeFirst()
            guard !response.isLarge else { return transformElsewhere(response) }
            deliver { () throws(NetworkError) in try transform(response) }
        }
        guard observer.scope.isOpen else { return }
        isBusy = false
        if hasEnded { observer.finish() } else { source.resume() }
    }

    private func deliver(_ make: () throws(NetworkError) -> T) {
        let value: T
        do throws(NetworkError) { value = try make() } catch { return observer.fail(error) }
        observer.next(value)
    }
}

extension Response {
    /// Whether reading the body would keep the stream's scheduler from other work for too long.
    var isLarge: Bool { body.count > Self.inPlaceLimit }
}
