import HTTPTypes
public import RxHTTP
public import RxLite

/// The short way: from a path to a response in one line. Each goes through all stages of
/// ``Client/request(_:)``; decode what comes with `decode`.
extension Client {
    /// GET.
    public func get(
        _ path: String, query: Parameters.Values = [:], headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.get, path, query: query, headers: headers))
    }

    /// HEAD.
    public func head(
        _ path: String, query: Parameters.Values = [:], headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.head, path, query: query, headers: headers))
    }

    /// POST.
    public func post(
        _ path: String, _ parameters: Parameters = .none, query: Parameters.Values = [:],
        headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.post, path, parameters, query: query, headers: headers))
    }

    /// PUT.
    public func put(
        _ path: String, _ parameters: Parameters = .none, query: Parameters.Values = [:],
        headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.put, path, parameters, query: query, headers: headers))
    }

    /// PATCH.
    public func patch(
        _ path: String, _ parameters: Parameters = .none, query: Parameters.Values = [:],
        headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.patch, path, parameters, query: query, headers: headers))
    }

    /// DELETE.
    public func delete(
        _ path: String, _ parameters: Parameters = .none, query: Parameters.Values = [:],
        headers: [String: String] = [:]
    ) -> Observable<Response, NetworkError> {
        request(Call(.delete, path, parameters, query: query, headers: headers))
    }
}
