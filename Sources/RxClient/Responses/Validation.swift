import HTTPTypes
public import RxHTTP
public import RxLite

/// The validation of responses: an accepted status, an accepted content type, and the envelope, which it
/// removes.
final class Validation: Sendable {
    let envelope: Envelope?
    private let contentTypes: ContentTypes
    /// The decodable content types of a response that is itself the output; `nil` if no later check is
    /// needed.
    private let decodableTypes: ContentTypes?
    /// Opens the envelope. Stored as a closure, so that validating needs no copy of the envelope.
    private let unwrap: (@Sendable (inout Response) throws(NetworkError) -> Void)?

    /// The output that a response becomes.
    enum Output: Hashable {
        case response
        case decoded
        /// A string, which may also be plain text.
        case text
        /// An output that the endpoint makes.
        case other
    }

    /// - Parameters:
    ///   - output: the output that the response becomes.
    ///   - contentTypes: the types that the endpoint accepts, if it specifies any.
    ///   - decodable: the types that can be decoded.
    init(
        _ output: Output, _ envelope: Envelope?, accepting contentTypes: ContentTypes? = nil,
        decodable: ContentTypes
    ) {
        let envelope = envelope?.isAbsent == true ? nil : envelope
        self.envelope = envelope
        let standard: ContentTypes =
            switch output {
            case .decoded: decodable
            case .text: decodable.or("text/plain")
            case .response, .other: .any
            }
        self.contentTypes = contentTypes ?? standard
        // A response decoded by hand must pass the same check as the response of an endpoint with that
        // output.
        decodableTypes = output == .response && contentTypes == nil ? decodable : nil
        if let envelope {
            unwrap = { response throws(NetworkError) in try envelope.remove(from: &response) }
        } else {
            unwrap = nil
        }
    }

    func validate(_ response: inout Response) throws(NetworkError) {
        if response.status.kind != .successful { try response.checkStatus(envelope) }
        try response.checkContentType(contentTypes)
        try unwrap?(&response)
        if let decodableTypes { response.decodableTypes = decodableTypes }
    }
}

extension Observable where Element == Response, Failure == NetworkError {
    /// Applies `checkStatus(envelope:)`, `checkContentType(_:)` and `unwrap(_:)` in turn; without a
    /// validation, responses stay unchanged.
    func validated(by validation: Validation?) -> Observable {
        guard let validation else { return self }
        return process { response throws(NetworkError) in
            var response = response
            try validation.validate(&response)
            return response
        }
    }
}

extension CallEvent {
    /// Validates a whole response in place.
    ///
    /// - Returns: the version of the credential that the response's request carried.
    mutating func validate(by validation: Validation) throws(NetworkError) -> CredentialVersion? {
        guard case .response(var response) = self else { return nil }
        // With a second reference to the response, each change would copy it.
        self = .transfer(.chunk([]))
        try validation.validate(&response)
        let credentialVersion = response.request.credentialVersion
        self = .response(response)
        return credentialVersion
    }
}

extension Client {
    func validation(for output: Validation.Output, _ options: MergedOptions) -> Validation {
        guard options.hasOwnValidation else { return validations.validation(for: output) }
        return Validation(
            output, options.values.envelope, accepting: options.ownContentTypes,
            decodable: configuration.options.contentTypes ?? .json)
    }
}

/// The client's validations for endpoints that specify none.
struct Validations: Sendable {
    private let response: Validation
    private let decoded: Validation
    private let text: Validation
    private let other: Validation

    init(_ options: RequestOptions) {
        let types = options.contentTypes ?? .json
        response = Validation(.response, options.envelope, decodable: types)
        decoded = Validation(.decoded, options.envelope, decodable: types)
        text = Validation(.text, options.envelope, decodable: types)
        other = Validation(.other, options.envelope, decodable: types)
    }

    func validation(for output: Validation.Output) -> Validation {
        switch output {
        case .response: response
        case .decoded: decoded
        case .text: text
        case .other: other
        }
    }
}

extension Endpoint {
    static var kindOfOutput: Validation.Output {
        if Output.self == Response.self { return .response }
        if Output.self == String.self { return .text }
        return Output.self is any Decodable.Type ? .decoded : .other
    }
}

// MARK: - Checks of the app

extension Observable where Failure == NetworkError {
    /// Checks each value, and fails with the error that `check` throws.
    ///
    /// ```swift
    /// client.get("/goods").decode([Goods].self).validate { goods throws(NetworkError) in
    ///     if goods.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    /// }
    /// ```
    ///
    /// Endpoints do the same with ``Endpoint/validate(_:)``.
    public func validate(
        _ check: @escaping @Sendable (Element) throws(NetworkError) -> Void
    ) -> Observable {
        map { value throws(NetworkError) in
            try check(value)
            return value
        }
    }
}
