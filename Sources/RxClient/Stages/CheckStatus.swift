import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `status` unless the answer's status is a success (200 to 299).
    ///
    /// The error keeps the body, and its message is the server's own where the body is JSON and has one
    /// under `envelope`'s keys or one of the usual names. A code to which the envelope gives a meaning makes the error
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
        if body.count <= Decoding.inPlaceLimit,
            let document = try? JSONDecoder().decode(JSONValue.self, quicklyFrom: body)
        {
            error.message = document.message(at: envelope?.message) ?? error.message
            envelope?.explain(&error, by: document)
        }
        throw error
    }
}

extension Envelope {
    /// Puts into the error of a refused request what the envelope in its body says.
    fileprivate func explain(_ error: inout NetworkError, by document: JSONValue) {
        guard let code = document.text(at: code) else { return }
        error.envelopeCode = code
        guard let kind = failure(code) else { return }
        error.code = kind
        if kind == .retryLater {
            error.retryDelay = document.text(at: retryDelay).flatMap(Duration.init(asked:))
        }
    }
}

extension JSONValue {
    /// Where servers usually say what is wrong (RFC 9457 has `detail` and `title`).
    private static let usualKeys = [
        "message", "msg", "error_description", "errmsg", "detail", "title", "error",
    ]

    fileprivate func message(at keys: Envelope.Keys?) -> String? {
        for path in (keys?.paths ?? []) + Self.usualKeys.map({ PayloadPath([$0]) }) {
            guard let value = self[path] else { continue }
            if case .object = value, !path.keys.isEmpty { return value.message(at: nil) }
            if let text = value.scalarText, !text.isEmpty { return text }
        }
        return nil
    }

    fileprivate func text(at keys: Envelope.Keys) -> String? {
        keys.paths.lazy.compactMap { self[$0]?.scalarText }.first
    }

    private subscript(path: PayloadPath) -> JSONValue? {
        path.keys.reduce(Optional(self)) { value, key in value?[key] }
    }
}
