import HTTPTypes
import RxHTTP
import RxLite

/// How responses are opened: an accepted status, an accepted type of content, and the envelope off.
final class Opening: Sendable {
    let envelope: Envelope?
    private let contentTypes: ContentTypes
    /// What may be decoded of a response that is itself the output; `nil` where nothing is looked at any more.
    private let decodableTypes: ContentTypes?
    /// Takes the envelope off, and need not copy it for that.
    private let unwrap: (@Sendable (Response) throws(NetworkError) -> Response)?

    /// What a response becomes.
    enum Output: Hashable {
        case response
        case decoded
        /// Made by the endpoint.
        case other
    }

    /// - Parameters:
    ///   - output: what the response becomes.
    ///   - contentTypes: those that the endpoint accepts, if it says so.
    ///   - decodable: those that are decoded.
    init(
        _ output: Output, _ envelope: Envelope?, accepting contentTypes: ContentTypes? = nil,
        decodable: ContentTypes
    ) {
        let envelope = envelope?.isAbsent == true ? nil : envelope
        self.envelope = envelope
        self.contentTypes = contentTypes ?? (output == .decoded ? decodable : .any)
        // Whoever decodes a response by hand gets what an endpoint with that output would.
        decodableTypes = output == .response && contentTypes == nil ? decodable : nil
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
    func opening(for output: Opening.Output, _ draft: Draft) -> Opening {
        guard draft.hasOwnOpening else { return openings.opening(for: output) }
        return Opening(
            output, draft.options.envelope, accepting: draft.ownContentTypes,
            decodable: configuration.options.contentTypes ?? .json)
    }
}

/// How a client opens the responses of endpoints that say nothing of their own.
struct Openings: Sendable {
    private let response: Opening
    private let decoded: Opening
    private let other: Opening

    init(_ options: RequestOptions) {
        let types = options.contentTypes ?? .json
        response = Opening(.response, options.envelope, decodable: types)
        decoded = Opening(.decoded, options.envelope, decodable: types)
        other = Opening(.other, options.envelope, decodable: types)
    }

    func opening(for output: Opening.Output) -> Opening {
        switch output {
        case .response: response
        case .decoded: decoded
        case .other: other
        }
    }
}

extension Endpoint {
    static var kindOfOutput: Opening.Output {
        if Output.self == Response.self { return .response }
        return Output.self is any Decodable.Type && Output.self != Empty.self ? .decoded : .other
    }
}
