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
    /// Adds the envelope's code in the body of an error response to its error.
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
