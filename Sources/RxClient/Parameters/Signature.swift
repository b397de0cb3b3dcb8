public import RxHTTP

/// Signs requests: sees what is about to be sent, and says what to add to it.
///
/// ```swift
/// configuration.signature = Signature { content in
///     .parameters(["sign": digest(of: content.canonicalQuery + secret)])
/// }
/// ```
///
/// It runs last, over the final parameters, and again for each attempt, so that a time or a nonce in it is fresh. The
/// session's credential is put in afterwards and is not signed.
public struct Signature: Sendable {
    /// The content to sign.
    public struct Content: Sendable {
        /// The request as it would be sent without a signature.
        public let request: Request
        /// All parameters of query and body, unescaped, in the order of their names' and values' bytes. The
        /// members of a JSON body count, each scalar under its full name, such as `user[name]`.
        public let parameters: [ParameterPair]

        /// The parameters as `name=value` joined by `&`, escaped down to RFC 3986's unreserved characters.
        public var canonicalQuery: String { parameters.encodedAsQuery }
    }

    /// The additions to the request.
    public struct Addition: Sendable {
        var parameters: Parameters.Values = [:]
        var headers: Headers = [:]

        /// Parameters, which travel as the request's own do.
        public static func parameters(_ values: Parameters.Values) -> Addition {
            Addition(parameters: values)
        }

        /// Header fields.
        public static func headers(_ fields: Headers) -> Addition { Addition(headers: fields) }
    }

    let sign: @Sendable (Content) throws(NetworkError) -> Addition

    /// Creates a signature from its rule.
    public init(_ sign: @escaping @Sendable (Content) throws(NetworkError) -> Addition) { self.sign = sign }
}

extension Signature.Content: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the parameters, and nothing of their values.
    public var description: String {
        "\(request) with " + parameters.map(\.name).joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Signature.Addition: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of parameters and fields.
    public var description: String {
        parameters.keys.sorted().joined(separator: ", ") + "\(headers)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
