import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `status` unless the answer's status is a success (200 to 299).
    ///
    /// The error keeps the body, and its message is the server's own where the body is JSON of up to 256 KiB and has one
    /// under `envelope`'s keys or one of the usual names: those of problem details (RFC 9457), and the forms of Django REST
    /// framework and FastAPI, with the errors of several fields one after the other. A code to which the envelope gives a meaning makes the error
    /// one of that kind, whatever the status.
    ///
    /// - Parameters:
    ///   - envelope: where the server's message stands.
    ///   - accepted: statuses that are let through as well.
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
        // A body that is no JSON, or too large to be read on the stream's scheduler, has no message.
        if body.count <= Decoding.inPlaceLimit, var reader = ErrorMessageReader(body) {
            let isProblem = MediaType(head[.contentType]).name == "application/problem+json"
            error.message = reader.message(at: envelope?.message, isProblem: isProblem) ?? error.message
            envelope?.explain(&error, by: reader)
        }
        throw error
    }
}

extension Envelope {
    /// Puts into the error of a refused request what the envelope in its body says.
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
