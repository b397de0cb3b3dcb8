import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Fails with `status` unless the answer's status is a success (200 to 299).
    ///
    /// The error keeps the body, and its message is the server's own where the body is JSON and has one
    /// under `envelope`'s keys or one of the usual names.
    public func checkStatus(envelope: Envelope? = nil) -> Observable<Response, NetworkError> {
        map { response throws(NetworkError) in
            guard response.status.kind != .successful else { return response }
            var error = NetworkError(.status, response.status.reasonPhrase, request: response.request)
            error.head = response.head
            error.body = response.body
            // A body that is no JSON, or too large to be read on the stream's scheduler, has no message.
            if response.body.count <= Decoding.inPlaceLimit,
                let document = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
            {
                error.message = document.message(key: envelope?.message) ?? error.message
                error.envelopeCode = envelope.flatMap { document[$0.code]?.scalarText }
            }
            throw error
        }
    }
}

extension JSONValue {
    /// Where servers usually say what is wrong (RFC 9457 has `detail` and `title`).
    private static let usualKeys = [
        "message", "msg", "error_description", "errmsg", "detail", "title", "error",
    ]

    fileprivate func message(key: String?) -> String? {
        for key in [key].compactMap(\.self) + Self.usualKeys {
            guard let value = self[key] else { continue }
            if case .object = value { return value.message(key: nil) }
            if let text = value.scalarText, !text.isEmpty { return text }
        }
        return nil
    }
}
