import HTTPTypes
import RxHTTP
import RxLite

/// How answers are opened: an accepted status, an accepted type of content, and the envelope off. The client has one for
/// all endpoints that say nothing of their own.
final class Opening: Sendable {
    let envelope: Envelope?
    private let contentTypes: ContentTypes
    /// Takes the envelope off, and need not copy it for that.
    private let unwrap: (@Sendable (Response) throws(NetworkError) -> Response)?

    init(_ envelope: Envelope?, _ contentTypes: ContentTypes) {
        self.envelope = envelope
        self.contentTypes = contentTypes
        if let envelope {
            unwrap = { response throws(NetworkError) in try envelope.open(response) }
        } else {
            unwrap = nil
        }
    }

    fileprivate func open(_ response: Response) throws(NetworkError) -> Response {
        if response.status.kind != .successful { try response.checkStatus(envelope) }
        try response.checkContentType(contentTypes)
        return try unwrap?(response) ?? response
    }
}

extension Observable where Element == Response, Failure == NetworkError {
    /// The same as `checkStatus(envelope:)`, `checkContentType(_:)` and `unwrap(_:)` one after the other; without an
    /// opening, as they are.
    func opened(by opening: Opening?) -> Observable {
        guard let opening else { return self }
        return process { response throws(NetworkError) in try opening.open(response) }
    }
}

extension Client {
    func opening(of endpoint: some Endpoint) -> Opening {
        let contentTypes = endpoint.contentTypes
        switch endpoint.envelope {
        case .client where contentTypes == nil: return opening
        case .client: return Opening(configuration.envelope, contentTypes ?? configuration.contentTypes)
        case .none: return Opening(nil, contentTypes ?? configuration.contentTypes)
        case .custom(let envelope): return Opening(envelope, contentTypes ?? configuration.contentTypes)
        }
    }
}
