import HTTPTypes
public import RxHTTP
public import RxLite
public import RxParameters

/// Shorthands for requests without an endpoint type. Each goes through all stages of ``Client/request(_:)``;
/// `decode` decodes the response. `at` takes the values of the path's placeholders.
///
/// ```swift
/// client.get("/users/{id}", at: ["id": id]).decode(User.self)
/// client.post("/cart", ["goods": 7, "count": 2]).decode(Cart.self)
/// ```
extension Client {
    /// Sends a GET request.
    public func get(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.get(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a GET request with the members of a model, or of a list of models, as its query. With other methods, write
    /// `.query(model)`: see ``Parameters``.
    @_disfavoredOverload
    public func get(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.get(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a HEAD request.
    public func head(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.head(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a HEAD request with the members of a model, or of a list of models, as its query. With other methods, write
    /// `.query(model)`: see ``Parameters``.
    @_disfavoredOverload
    public func head(
        _ path: String, at pathValues: PathValues = [:], query: some Encodable & Sendable,
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(.head(path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// Sends a POST request.
    public func post(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .post, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a PUT request.
    public func put(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .put, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a PATCH request.
    public func patch(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .patch, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// Sends a DELETE request.
    public func delete(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .delete, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }
}
