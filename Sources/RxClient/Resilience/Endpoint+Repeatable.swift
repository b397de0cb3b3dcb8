import HTTPTypes
import RxHTTP
import RxParameters

extension Endpoint {
    /// Whether the endpoint's requests may be sent twice, by their method (RFC 9110 §9.2.2),
    /// ``RequestOptions/isIdempotent`` or an `Idempotency-Key`, and have a replayable body.
    public var isRepeatable: Bool {
        switch method {
        case .get, .head, .options, .trace, .put, .delete: parameters.isReplayable
        default: (options.isIdempotent == true || hasKey) && parameters.isReplayable
        }
    }

    private var hasKey: Bool {
        options.headers[HTTPField.Name.idempotencyKey.rawName] != nil
    }
}
