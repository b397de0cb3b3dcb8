public import RxHTTP

/// Signs requests: receives the final content of a request, and returns the parameters or header fields to add.
///
/// ```swift
/// configuration.signature = .parameters { content in
///     ["sign": digest(of: content.canonicalQuery + secret)]
/// }
/// ```
///
/// The rule runs last, over the final parameters, and again for each attempt, so that a time or a nonce in it
/// is fresh. The session's credential is added afterwards and is not signed.
public struct Signature: Sendable {
    /// The content to sign.
    public struct Content: Sendable {
        /// The request without a signature, as it would be sent.
        public let request: Request
        /// All parameters of query and body, unescaped, sorted by the bytes of their names and values. The
        /// members of a JSON body are included, each scalar with its full name, such as `user[name]`.
        public let parameters: [ParameterPair]

        /// The parameters as `name=value` pairs joined by `&`, with every character escaped except RFC 3986's
        /// unreserved ones.
        public var canonicalQuery: String { parameters.encodedAsQuery }

        package init(request: Request, parameters: [ParameterPair]) {
            self.request = request
            self.parameters = parameters
        }
    }

    /// The additions to the request.
    package struct Addition: Sendable {
        package private(set) var parameters: Parameters.Values = [:]
        package private(set) var headers: Headers = [:]

        package static func parameters(_ values: Parameters.Values) -> Addition {
            Addition(parameters: values)
        }

        package static func headers(_ fields: Headers) -> Addition { Addition(headers: fields) }
    }

    package let sign: @Sendable (Content) throws(NetworkError) -> Addition

    /// Adds the parameters that the rule returns, in the format of the request's parameters.
    public static func parameters(
        _ sign: @escaping @Sendable (Content) throws(NetworkError) -> Parameters.Values
    ) -> Signature {
        Signature { content throws(NetworkError) in .parameters(try sign(content)) }
    }

    /// Adds the header fields that the rule returns.
    public static func headers(
        _ sign: @escaping @Sendable (Content) throws(NetworkError) -> Headers
    ) -> Signature {
        Signature { content throws(NetworkError) in .headers(try sign(content)) }
    }

    /// Adds parameters and header fields that the rule returns, for servers that want one or the other by the request.
    public static func parametersAndHeaders(
        _ sign: @escaping @Sendable (Content) throws(NetworkError) -> (Parameters.Values, Headers)
    ) -> Signature {
        Signature { content throws(NetworkError) in
            let (parameters, headers) = try sign(content)
            return Addition(parameters: parameters, headers: headers)
        }
    }

    private init(_ sign: @escaping @Sendable (Content) throws(NetworkError) -> Addition) { self.sign = sign }
}

extension Signature.Content: RedactedDescription {
    /// The names of the parameters, without the values.
    public var description: String {
        "\(request) with " + parameters.map(\.name).joined(separator: ", ")
    }
}

extension Signature.Addition: RedactedDescription {
    /// The names of parameters and fields.
    package var description: String {
        parameters.keys.sorted().joined(separator: ", ") + "\(headers)"
    }
}
