public import HTTPTypes
public import RxHTTP
public import RxParameters

/// An inline endpoint, for requests without an endpoint type. Its output is the response.
///
/// ```swift
/// client.request(InlineEndpoint(.options, "/goods/1")).map { $0.head[.allow] }
/// ```
public struct InlineEndpoint: Endpoint {
    /// The unchanged response.
    public typealias Output = Response

    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The path below the client's base URL, or an absolute URL of the same origin.
    public var path: String
    /// The values of the path's placeholders.
    public var pathValues: PathValues
    /// The parameters of the request.
    public var parameters: Parameters
    /// The options of the endpoint's requests and responses. Default: the client's options.
    public var options: RequestOptions

    /// Creates an endpoint.
    ///
    /// - Parameters:
    ///   - method: the method, standard or custom.
    ///   - path: the path below the client's base URL, or an absolute URL of the same origin.
    ///   - pathValues: the values of the path's placeholders.
    ///   - parameters: the parameters. Default: none.
    ///   - query: parameters for the URL's query, in addition to a body.
    ///   - headers: header fields, which replace those of `options` and of the client.
    ///   - options: all other options. Default: the client's options.
    public init(
        _ method: HTTPRequest.Method, _ path: String, at pathValues: PathValues = [:],
        _ parameters: Parameters = .none, query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) {
        self.method = method
        self.path = path
        self.pathValues = pathValues
        self.parameters = query.isEmpty ? parameters : parameters.query(query)
        self.options = options
        if !headers.fields.isEmpty { self.options.headers.fields += headers.fields }
    }
}

extension InlineEndpoint {
    /// The endpoint with other options.
    ///
    /// - Parameter change: changes the options. Called once.
    public func with(_ change: (inout RequestOptions) -> Void) -> InlineEndpoint {
        var endpoint = self
        change(&endpoint.options)
        return endpoint
    }
}

extension InlineEndpoint: RedactedDescription {
    /// Method and path without query, and the names of the parameters.
    public var description: String {
        var text = "\(method.rawValue) \(path.withoutSecrets)"
        if !parameters.isEmpty { text += ", \(parameters)" }
        return options.headers.fields.isEmpty ? text : text + ", \(options.headers)"
    }
}

/// Inline endpoints, by their method.
///
/// ```swift
/// client.download(.get("/map.osm"), to: "/var/lib/app/map.osm")
/// ```
extension Endpoint where Self == InlineEndpoint {
    /// An endpoint for a GET request.
    public static func get(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(.get, path, at: pathValues, query: query, headers: headers, options: options)
    }

    /// An endpoint for a GET request with the members of a model, or of a list of models, as its query.
    @_disfavoredOverload
    public static func get(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(.get, path, at: pathValues, .query(query), headers: headers, options: options)
    }

    /// An endpoint for a HEAD request.
    public static func head(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(.head, path, at: pathValues, query: query, headers: headers, options: options)
    }

    /// An endpoint for a HEAD request with the members of a model, or of a list of models, as its query.
    @_disfavoredOverload
    public static func head(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(.head, path, at: pathValues, .query(query), headers: headers, options: options)
    }

    /// An endpoint for a POST request.
    public static func post(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(
            .post, path, at: pathValues, parameters, query: query, headers: headers, options: options)
    }

    /// An endpoint for a PUT request.
    public static func put(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(
            .put, path, at: pathValues, parameters, query: query, headers: headers, options: options)
    }

    /// An endpoint for a PATCH request.
    public static func patch(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(
            .patch, path, at: pathValues, parameters, query: query, headers: headers, options: options)
    }

    /// An endpoint for a DELETE request.
    public static func delete(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> InlineEndpoint {
        InlineEndpoint(
            .delete, path, at: pathValues, parameters, query: query, headers: headers, options: options)
    }
}
