import HTTPTypes
import RxHTTP
import RxLite

/// How responses are validated: an accepted status, an accepted type of content, and the envelope, which is taken off.
final class Validation: Sendable {
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

    func validate(_ response: Response) throws(NetworkError) -> Response {
        if response.status.kind != .successful { try response.checkStatus(envelope) }
        try response.checkContentType(contentTypes)
        guard let decodableTypes else { return try unwrap?(response) ?? response }
        var validated = try unwrap?(response) ?? response
        validated.decodableTypes = decodableTypes
        return validated
    }
}

extension Observable where Element == Response, Failure == NetworkError {
    /// The same as `checkStatus(envelope:)`, `checkContentType(_:)` and `unwrap(_:)` one after the other; without a
    /// validation, as they are.
    func validated(by validation: Validation?) -> Observable {
        guard let validation else { return self }
        return process { response throws(NetworkError) in try validation.validate(response) }
    }
}

extension Client {
    func validation(for output: Validation.Output, _ prepared: PreparedRequest) -> Validation {
        guard prepared.hasOwnValidation else { return validations.validation(for: output) }
        return Validation(
            output, prepared.options.envelope, accepting: prepared.ownContentTypes,
            decodable: configuration.options.contentTypes ?? .json)
    }
}

/// How a client validates the responses of endpoints that say nothing of their own.
struct Validations: Sendable {
    private let response: Validation
    private let decoded: Validation
    private let other: Validation

    init(_ options: RequestOptions) {
        let types = options.contentTypes ?? .json
        response = Validation(.response, options.envelope, decodable: types)
        decoded = Validation(.decoded, options.envelope, decodable: types)
        other = Validation(.other, options.envelope, decodable: types)
    }

    func validation(for output: Validation.Output) -> Validation {
        switch output {
        case .response: response
        case .decoded: decoded
        case .other: other
        }
    }
}

extension Endpoint {
    static var kindOfOutput: Validation.Output {
        if Output.self == Response.self { return .response }
        return Output.self is any Decodable.Type && Output.self != Empty.self ? .decoded : .other
    }
}
