import HTTPTypes
public import RxHTTP
public import RxParameters

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
