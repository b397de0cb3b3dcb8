import HTTPTypes
public import RxHTTP
public import RxLite

/// The short way: from a path to a response in one line. Each goes through all stages of
/// ``Client/request(_:)``; decode what comes with `decode`. Placeholders of a path get their values by `at:`.
///
/// ```swift
/// client.get("/users/{id}", at: ["id": id]).decode(User.self)
/// client.post("/cart", ["goods": 7, "count": 2]).decode(Cart.self)
/// ```
extension Client {
    /// GET.
    public func get(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.get, path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// HEAD.
    public func head(
        _ path: String, at pathValues: PathValues = [:], query: Parameters.Values = [:],
        headers: Headers = [:], options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(InlineEndpoint(.head, path, at: pathValues, query: query, headers: headers, options: options))
    }

    /// POST.
    public func post(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .post, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// PUT.
    public func put(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .put, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// PATCH.
    public func patch(
        _ path: String, at pathValues: PathValues = [:], _ parameters: Parameters = .none,
        query: Parameters.Values = [:], headers: Headers = [:],
        options: RequestOptions = RequestOptions()
    ) -> Observable<Response, NetworkError> {
        request(
            InlineEndpoint(
                .patch, path, at: pathValues, parameters, query: query, headers: headers, options: options))
    }

    /// DELETE.
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
