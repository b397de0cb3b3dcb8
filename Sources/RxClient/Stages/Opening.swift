import HTTPTypes
import RxHTTP
import RxLite

/// How answers are opened: an accepted status, an accepted type of content, and the envelope off. The client has one
/// for all endpoints that say nothing of their own.
final class Opening: Sendable {
    let envelope: Envelope?
    private let contentTypes: ContentTypes
    /// What may be decoded of a response that is itself the output; `nil` where nothing is looked at any more.
    private let decodableTypes: ContentTypes?
    /// Takes the envelope off, and need not copy it for that.
    private let unwrap: (@Sendable (Response) throws(NetworkError) -> Response)?

    init(_ envelope: Envelope?, _ contentTypes: ContentTypes, decodable decodableTypes: ContentTypes? = nil) {
        self.envelope = envelope
        self.contentTypes = contentTypes
        self.decodableTypes = decodableTypes
        if let envelope {
            unwrap = { response throws(NetworkError) in try envelope.open(response) }
        } else {
            unwrap = nil
        }
    }

    fileprivate func open(_ response: Response) throws(NetworkError) -> Response {
        if response.status.kind != .successful { try response.checkStatus(envelope) }
        try response.checkContentType(contentTypes)
        guard let decodableTypes else { return try unwrap?(response) ?? response }
        var opened = try unwrap?(response) ?? response
        opened.decodableTypes = decodableTypes
        return opened
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
    func opening<E: Endpoint>(of endpoint: E) -> Opening {
        let contentTypes = endpoint.contentTypes
        // Whoever decodes a response by hand gets what an endpoint with that output would.
        let isUndecided = E.Output.self == Response.self && contentTypes == nil
        if case .client = endpoint.envelope, contentTypes == nil {
            return isUndecided ? responseOpening : opening
        }
        return Opening(
            envelope(of: endpoint), contentTypes ?? (isUndecided ? .any : configuration.contentTypes),
            decodable: isUndecided ? configuration.contentTypes : nil)
    }
}
